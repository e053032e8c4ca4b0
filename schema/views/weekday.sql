CREATE OR REPLACE VIEW {{.Database}}.weekday {{.OnCluster}}
(
    {{- template "station columns" .}}{{template "parameter columns" .}}
    year UInt16 COMMENT 'Indian calendar year',
    weekday UInt8 COMMENT 'day of the week, 1 Monday to 7 Sunday',
    mean Float64 COMMENT 'mean of the hours of these days, in unit; a published mean of a day counts as 24 hours',
    days UInt16 COMMENT 'valid days: those with at least {{.DayHours}} hours, or with a published mean',
    {{- template "capture columns" .}}
)
AS
SELECT station, place.name AS name, place.city AS city, place.state AS state, place.kind AS kind, parameter, parameter_unit(parameter) AS unit, year,
    weekday, assumeNotNull(fact.mean) AS mean, days, hours,
    -- The first of these days is the one with this number in the year; another follows each 7 days.
    positiveModulo(weekday - toDayOfWeek(makeDate(year, 1, 1)), 7) AS first,
    24 * (intDiv(dateDiff('day', makeDate(year, 1, 1), makeDate(year + 1, 1, 1)) - 1 - first, 7) + 1) AS {{template "capture" .}}
FROM
(
    SELECT station, parameter, toYear(day) AS year, toDayOfWeek(day) AS weekday,
        {{template "mean"}}, countIf(weight >= {{.DayHours}}) AS days, sum(weight) AS hours
    FROM
    ({{template "days" .}}
    )
    GROUP BY station, parameter, year, weekday
    HAVING hours > 0
) AS fact {{template "place" .}}
COMMENT 'The week''s course. One row per station, parameter, Indian year and day of the week.'
