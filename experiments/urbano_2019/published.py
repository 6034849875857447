"""What the paper's authors publish: github.com/julian-urbano/sigir2019-statistical, folder output, at the level .05."""

from __future__ import annotations

import pandas as pd

#: The paper's sign test takes small differences for ties.
SIGN_WITH_TIES = "sign, small differences tied"

# The tests in the order of the columns, as they are called here.
COLUMNS = ("t_paired", "wilcoxon", SIGN_WITH_TIES, "bootstrap", "randomization")

# output/type_1: measure, topics, two-sided rates of the five tests, one-sided rates.
TYPE_1 = """
ap 25 .0509 .0607 .0464 .0689 .0534 .0516 .0568 .0479 .0592 .0520
ap 50 .0512 .0722 .0779 .0597 .0522 .0512 .0667 .0661 .0547 .0513
ap 100 .0511 .0965 .1251 .0553 .0517 .0512 .0813 .0945 .0529 .0514
p10 25 .0506 .0487 .0380 .0675 .0467 .0507 .0505 .0405 .0601 .0472
p10 50 .0503 .0526 .0552 .0585 .0481 .0506 .0530 .0537 .0552 .0486
p10 100 .0500 .0563 .0828 .0539 .0489 .0501 .0557 .0719 .0524 .0491
rr 25 .0495 .0439 .0289 .0672 .0482 .0502 .0471 .0312 .0591 .0489
rr 50 .0498 .0480 .0360 .0580 .0498 .0499 .0494 .0396 .0544 .0497
rr 100 .0500 .0498 .0485 .0539 .0501 .0502 .0506 .0471 .0525 .0502
ndcg20 25 .0498 .0556 .0387 .0679 .0523 .0504 .0518 .0401 .0580 .0508
ndcg20 50 .0504 .0617 .0592 .0588 .0515 .0503 .0577 .0511 .0537 .0504
ndcg20 100 .0502 .0748 .0885 .0542 .0507 .0502 .0651 .0688 .0519 .0503
err20 25 .0482 .0546 .0366 .0668 .0517 .0502 .0518 .0391 .0569 .0509
err20 50 .0494 .0602 .0559 .0579 .0509 .0502 .0569 .0493 .0530 .0504
err20 100 .0498 .0732 .0822 .0538 .0505 .0503 .0644 .0648 .0515 .0503
"""

# output/type_2_by_delta and type_3_by_delta, two-sided, 50 topics: measure, gain, power, type III error rates.
GAINS = """
ap .01 .0947 .1212 .1119 .1068 .0966 .00689 .00978 .01237 .00818 .00703
ap .02 .2046 .2345 .1975 .2237 .2079 .00192 .00308 .00575 .00238 .00198
ap .05 .6697 .6843 .5656 .6918 .6730 .00003 .00013 .00057 .00004 .00003
ap .10 .9684 .9693 .9155 .9723 .9687 .00000 .00000 .00001 .00000 .00000
p10 .01 .0594 .0608 .0547 .0682 .0569 .01238 .01359 .01466 .01459 .01178
p10 .02 .0891 .0889 .0731 .1012 .0853 .00640 .00693 .00829 .00762 .00608
p10 .05 .2856 .2775 .2114 .3084 .2786 .00061 .00085 .00165 .00079 .00058
p10 .10 .7462 .7306 .6051 .7659 .7405 .00000 .00000 .00006 .00000 .00000
rr .01 .0526 .0549 .0562 .0609 .0527 .01647 .01694 .01760 .01951 .01650
rr .02 .0621 .0662 .0628 .0717 .0622 .01157 .01192 .01257 .01356 .01160
rr .05 .1292 .1325 .1133 .1442 .1296 .00287 .00286 .00383 .00352 .00286
rr .10 .3647 .3655 .2949 .3895 .3650 .00020 .00022 .00040 .00023 .00019
ndcg20 .01 .1052 .1326 .1194 .1176 .1080 .00753 .01258 .01502 .00910 .00772
ndcg20 .02 .1880 .2068 .1713 .2053 .1911 .00251 .00413 .00626 .00296 .00256
ndcg20 .05 .5562 .5497 .4167 .5810 .5598 .00010 .00020 .00052 .00013 .00010
ndcg20 .10 .9363 .9255 .8057 .9434 .9370 .00000 .00000 .00002 .00000 .00000
err20 .01 .1209 .1494 .1301 .1348 .1252 .00519 .00835 .01054 .00627 .00541
err20 .02 .2588 .2885 .2334 .2795 .2630 .00144 .00277 .00411 .00176 .00149
err20 .05 .7285 .7527 .6580 .7456 .7309 .00008 .00034 .00081 .00013 .00008
err20 .10 .9538 .9603 .9319 .9578 .9544 .00000 .00000 .00007 .00000 .00000
"""

LEVEL = 0.05
GAIN_TOPICS = 50


def published() -> pd.DataFrame:
    """measure, n_topics, gain, alternative, test; published (share of rejections), published_wrong (type III)."""
    rows = []
    for line in TYPE_1.split("\n")[1:-1]:
        measure, n, *rates = line.split()
        for alternative, part in (("two-sided", rates[:5]), ("greater", rates[5:])):
            rows += [(measure, int(n), 0.0, alternative, *pair) for pair in zip(COLUMNS, part, strict=True)]
    table = pd.DataFrame(rows, columns=["measure", "n_topics", "gain", "alternative", "test", "published"])
    better_rows = []
    for line in GAINS.split("\n")[1:-1]:
        measure, gain, *rates = line.split()
        by_test = zip(COLUMNS, rates[:5], rates[5:], strict=True)
        better_rows += [(measure, GAIN_TOPICS, float(gain), "two-sided", *row) for row in by_test]
    better = pd.DataFrame(better_rows, columns=[*table.columns, "published_wrong"])
    both = pd.concat([table, better], ignore_index=True)
    return both.astype({"published": float, "published_wrong": float})
