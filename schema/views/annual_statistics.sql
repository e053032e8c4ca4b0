CREATE OR REPLACE VIEW {{.Database}}.annual_statistics {{.OnCluster}}
(
    {{- template "station columns" .}}{{template "parameter columns" .}}
    year UInt16 COMMENT 'Indian calendar year',
    day_median Nullable(Float64) COMMENT 'median of the means of valid days, in the unit of the row',
    day_p98 Nullable(Float64) COMMENT '98th percentile of the means of valid days, in the unit of the row',
    day_p99 Nullable(Float64) COMMENT '99th percentile of the means of valid days, in the unit of the row',
    {{- template "figure columns" .}}
)
AS
SELECT station, place.name AS name, place.city AS city, place.state AS state, place.kind AS kind, parameter, parameter_unit(parameter) AS unit, year,
    day_median, day_p98, day_p99,
    mean,{{template "hour figures" .}}
    24 * dateDiff('day', makeDate(year, 1, 1), makeDate(year + 1, 1, 1)) AS {{template "capture" .}}
FROM
(
    SELECT station, parameter, toYear(day) AS year,{{template "figures" .}},
        arrayMap(x -> if(isNaN(x), NULL, x), quantilesExactInclusiveIf(0.5, 0.98, 0.99)(assumeNotNull(day_mean), weight >= {{.DayHours}})) AS day_shares,
        day_shares[1] AS day_median, day_shares[2] AS day_p98, day_shares[3] AS day_p99
    FROM
    ({{template "days" .}}
    )
    GROUP BY station, parameter, year
    HAVING hours > 0
) AS fact {{template "place" .}}
COMMENT 'Figures of years. One row per station, parameter and Indian year. Percentiles interpolate (quantileExactInclusive, type 7 of R).'
