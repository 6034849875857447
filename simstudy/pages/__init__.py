"""Pages: sections of tables, figures and sentences as data (`sections`), written as a folder (`report`)."""
