CREATE OR REPLACE VIEW {{.Database}}.diurnal {{.OnCluster}}
(
    {{- template "station columns" .}}{{template "parameter columns" .}}
    year UInt16 COMMENT 'Indian calendar year',
    hour UInt8 COMMENT 'hour of the Indian day, 0-23: 0 is 00:00 to 01:00',
    mean Float64 COMMENT 'mean of the hourly means at this hour of the day, in unit',
    {{- template "capture columns" .}}
)
AS
SELECT station, place.name AS name, place.city AS city, place.state AS state, place.kind AS kind, parameter, parameter_unit(parameter) AS unit, year,
    toUInt8(clock.1 - 1) AS hour, clock.2 AS mean, clock.3 AS hours,
    dateDiff('day', makeDate(year, 1, 1), makeDate(year + 1, 1, 1)) AS {{template "capture" .}}
FROM
(
    SELECT station, parameter, toYear(day) AS year,
        arrayFilter(x -> x.3 > 0, arrayZip(range(1, 25), avgResampleArray(0, 24, 1)(arrayMap(x -> {{template "exact" "x"}}, hours), bitPositionsToArray(present)),
            countResampleArray(0, 24, 1)(hours, bitPositionsToArray(present)))) AS clocks
    FROM ({{template "facts" .}}
    )
    WHERE present != 0 AND parameter != 'wind_direction'
    GROUP BY station, parameter, year
) AS fact {{template "place" .}}
ARRAY JOIN clocks AS clock
COMMENT 'The day''s course. One row per station, parameter, Indian year and hour of the day.'
