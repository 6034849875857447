"""The study of training-set resampling (Berg-Kirkpatrick et al. 2012)."""
