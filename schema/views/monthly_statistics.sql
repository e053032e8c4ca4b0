CREATE OR REPLACE VIEW {{.Database}}.monthly_statistics {{.OnCluster}}
(
    {{- template "station columns" .}}{{template "parameter columns" .}}
    month Date COMMENT 'first day of the Indian month',
    {{- template "figure columns" .}}
)
AS
SELECT station, place.name AS name, place.city AS city, place.state AS state, place.kind AS kind, parameter, parameter_unit(parameter) AS unit, month,
    mean,{{template "hour figures" .}}
    24 * toDayOfMonth(toLastDayOfMonth(month)) AS {{template "capture" .}}
FROM
(
    SELECT station, parameter, toStartOfMonth(day) AS month,{{template "figures" .}}
    FROM
    ({{template "days" .}}
    )
    GROUP BY station, parameter, month
    HAVING hours > 0
) AS fact {{template "place" .}}
COMMENT 'Figures of months. One row per station, parameter and Indian month. Percentiles interpolate (quantileExactInclusive, type 7 of R).'
