CREATE OR REPLACE VIEW {{.Database}}.data_capture {{.OnCluster}}
(
    {{- template "station columns" .}}
    parameter LowCardinality(String) COMMENT 'parameter.id: what was measured',
    month Date COMMENT 'first day of the Indian month',
    days UInt8 COMMENT 'valid days: those with at least {{.DayHours}} hours, or with a published mean',
    suspect UInt32 COMMENT 'readings in the means that a quality test calls suspect',
    excluded UInt32 COMMENT 'readings left out: failed a quality test, or withdrawn',
    measured_hours UInt32 COMMENT 'hours with a measured mean; a published mean of a day has none',
    {{- template "capture columns" .}}
)
AS
SELECT station, place.name AS name, place.city AS city, place.state AS state, place.kind AS kind, parameter, month, days, suspect, excluded, measured_hours, hours,
    24 * toDayOfMonth(toLastDayOfMonth(month)) AS {{template "capture" .}}
FROM
(
    SELECT station, parameter, toStartOfMonth(day) AS month, countIf(weight >= {{.DayHours}}) AS days,
        sum(suspects) AS suspect, sum(excludes) AS excluded, sum(measured) AS measured_hours, sum(weight) AS hours
    FROM
    (
        SELECT station, parameter, day, toUInt32(multiIf(isNull(mean), 0, expected = 1, 24, count)) AS weight, toUInt32(length(hours)) AS measured, suspect AS suspects, excluded AS excludes
        FROM ({{template "facts" .}}
        )
    )
    GROUP BY station, parameter, month
) AS fact {{template "place" .}}
COMMENT 'Which share of the hours has a mean. One row per station, parameter and Indian month with any reading.'
