CREATE OR REPLACE VIEW {{.Database}}.season {{.OnCluster}}
(
    {{- template "station columns" .}}{{template "parameter columns" .}}
    year UInt16 COMMENT 'Indian calendar year',
    season LowCardinality(String) COMMENT 'winter (January, February), pre-monsoon (March to May), monsoon (June to September) or post-monsoon (October to December), as the India Meteorological Department divides the year',
    {{- template "figure columns" .}}
)
AS
SELECT station, place.name AS name, place.city AS city, place.state AS state, place.kind AS kind, parameter, parameter_unit(parameter) AS unit, year, season,
    mean,{{template "hour figures" .}}
    24 * multiIf(season = 'winter', dateDiff('day', makeDate(year, 1, 1), makeDate(year, 3, 1)), season = 'monsoon', 122, 92) AS {{template "capture" .}}
FROM
(
    SELECT station, parameter, toYear(day) AS year, india_season(day) AS season,{{template "figures" .}}
    FROM
    ({{template "days" .}}
    )
    GROUP BY station, parameter, year, season
    HAVING hours > 0
) AS fact {{template "place" .}}
COMMENT 'Figures of seasons. One row per station, parameter, Indian year and season. Percentiles interpolate (quantileExactInclusive, type 7 of R).'
