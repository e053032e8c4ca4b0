-- How many places have got the base day after its issue: they have no forecast, or no reason but the missing day.
-- Parameters: from and to, both the base.
SELECT count()
FROM
(
{{.Days}}
)
WHERE arrayExists(a -> isNotNull(a), amounts) AND (place_kind, place, state) NOT IN
(
    SELECT place_kind, place, state FROM {{.Database}}.forecast FINAL
    WHERE run = '' AND day >= {to:Date} AND day <= {to:Date} + {{.Farthest}} AND day - horizon = {to:Date} AND (horizon > 0 OR reason != 'no_recent_data')
)
SETTINGS distributed_product_mode = 'global'
