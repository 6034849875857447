"""The columns of the tables on the page, and how their cells are written."""

CHOSEN = {
    "situation": "{situation}",
    "units": "{sizes}",
    "first choice": "{first}",
    "highest error rate": "{worst}",
    "power": "{power}",
    "also keep their level": "{keeps}",
    "reject too often": "{fails}",
}
OF_NULLS = {"test": "{test}", "null hypothesis": "{null}", "further assumptions": "{assumes}"}
EXACT = {
    "test": "{test}",
    "level": "{alpha:g}",
    "conditions": "{n_conditions}",
    "rates": "{n_rates}",
    "highest rate": "{highest:.4f}",
    "largest excess in standard deviations": "{highest_sd:.1f}",
    "significantly above the level": "{n_above}",
}
FOUND = {"condition": "{view}", "units": "{n_units:,}"}
MAGNITUDES = {
    **FOUND,
    "power": "{share:.3f}",
    "wrong winner": "{wrong:.4f} ({wrong_low:.4f} – {wrong_high:.4f})",
    "wrong winner if significant (type S)": "[{type_s:.3f}]",
    "observed gain / true gain (type M)": "[{type_m:.2f} ({type_m_low:.2f} – {type_m_high:.2f})]",
}
VERDICT = {
    "test": "{test}",
    "true null hypothesis": "{null}",
    "conditions": "{n_conditions}",
    "rates in the target range": "{n_within} of {n_rates}",
    "in Bradley's range": "{n_liberal} of {n_rates}",
    "lowest rate": "{lowest:.3f}",
    "highest rate": "{highest:.3f}",
    "highest rate, fewer units": "{highest_fewer:.3f}",
}
COVERED = {
    "condition": "{view}",
    "units": "{n_units:,}",
    "true gain": "{true_gain:.2f}",
    "interval": "{interval}",
    "coverage": "{share:.3f} ({low:.3f} – {high:.3f})",
    "mean width": "{mean_width:.3g}",
    "test sets without an interval": "{undefined:.1%}",
}
DRAWN_FROM = {
    "condition": "{title}",
    "metric": "{metric}",
    "systems": "{systems}",
    "true scores": "{score_1:.4g} and {score_2:.4g}",
}
