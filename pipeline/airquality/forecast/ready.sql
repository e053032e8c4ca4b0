-- How many places have a complete day: the base, and the day before.
-- Parameters: from and to, the day before and the base.
SELECT countIf(day = {to:Date}), countIf(day = {from:Date})
FROM
(
{{.Days}}
)
WHERE arrayExists(a -> isNotNull(a), amounts)
SETTINGS distributed_product_mode = 'global'
