CREATE OR REPLACE VIEW {{.Database}}.daily {{.OnCluster}}
(
    {{- template "station columns" .}}{{template "parameter columns" .}}
    day Date COMMENT 'Indian calendar day',
    mean Float64 COMMENT 'mean of the hours of the day, or the mean that the source published, in unit; a direction: of unit vectors',
    max_1h Nullable(Float64) COMMENT 'largest hourly mean, in unit; NULL without hours, for a published mean and for directions',
    max_8h Nullable(Float64) COMMENT 'largest 8-hour mean that ends in the day, of at least 6 hours, in unit; NULL as max_1h is',
    measured_hours UInt8 COMMENT 'hours with a measured mean, fewer than {{.DayHours}} for a published mean',
    hours UInt8 COMMENT 'hours with a mean; 24 for a published mean of the day',
    capture Float64 COMMENT 'hours / 24, 0-1',
    published Bool COMMENT 'the source published the mean of the day',
    valid Bool COMMENT 'at least {{.DayHours}} hours have a mean, or the mean was published',
    suspect UInt16 COMMENT 'readings in the mean that a quality test calls suspect',
    excluded UInt16 COMMENT 'readings left out: failed a quality test, or withdrawn'
)
AS
SELECT fact.station AS station, place.name AS name, place.city AS city, place.state AS state, place.kind AS kind, parameter, parameter_unit(parameter) AS unit,
    day, assumeNotNull(fact.mean) AS mean, if(empty(clock) OR published OR parameter = 'wind_direction', NULL, arrayMax(clock)) AS max_1h, if(published, NULL, fact.max_8h) AS max_8h,
    toUInt8(length(clock)) AS measured_hours, toUInt8(if(published, 24, count)) AS hours, hours / 24 AS capture, published,
    toBool(hours >= {{.DayHours}}) AS valid, suspect, excluded
FROM
(
    SELECT station, parameter, day, mean, hours AS clock, max_8h, count, suspect, excluded, toBool(expected = 1) AS published
    FROM ({{template "facts" .}}
    )
    WHERE isNotNull(mean)
) AS fact {{template "place" .}}
COMMENT 'Days. One row per physical station, parameter and Indian day with a mean.'
