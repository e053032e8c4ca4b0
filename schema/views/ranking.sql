CREATE OR REPLACE VIEW {{.Database}}.ranking {{.OnCluster}}
(
    year UInt16 COMMENT 'Indian calendar year',
    parameter LowCardinality(String) COMMENT 'parameter.id: what was measured',
    unit LowCardinality(String) COMMENT 'unit of mean',
    rank UInt32 COMMENT 'place of the city in the year, 1 for the largest mean; equal means have one place',
    city LowCardinality(String) COMMENT 'city, canonical name',
    state LowCardinality(String) COMMENT 'state or union territory',
    mean Float64 COMMENT 'mean of the annual means of the stations, in unit',
    stations UInt16 COMMENT 'stations in the mean: all with at least {{percent .Capture}} % capture',
    kind LowCardinality(String) COMMENT 'kind of these stations: reference, or city_mean in a city without such a reference station; low-cost sensors never count',
    {{- template "capture columns" .}}
)
AS
SELECT year, parameter, parameter_unit(parameter) AS unit, toUInt32(rank() OVER (PARTITION BY year, parameter ORDER BY mean DESC)) AS rank,
    city, state, mean, stations, kind, hours, {{template "capture" .}}
FROM
(
    SELECT year, parameter, city, state, kind, avg({{template "exact" "station_mean"}}) AS mean, count() AS stations, sum(station_hours) AS hours, sum(station_expected) AS expected_hours
    FROM
    (
        SELECT year, parameter, city, state, kind, assumeNotNull(figures.mean) AS station_mean, figures.hours AS station_hours, figures.expected_hours AS station_expected
        FROM {{.Database}}.annual_statistics AS figures
        WHERE complete AND city != '' AND kind IN ('reference', 'city_mean')
    )
    GROUP BY year, parameter, city, state, kind
    ORDER BY kind = 'city_mean'
    LIMIT 1 BY year, parameter, city, state
)
COMMENT 'Cities by annual mean, the largest first. One row per Indian year, parameter and city with a station of enough capture.'
