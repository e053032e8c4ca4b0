CREATE OR REPLACE VIEW {{.Database}}.exceedance {{.OnCluster}}
(
    {{- template "station columns" .}}{{template "parameter columns" .}}
    year UInt16 COMMENT 'Indian calendar year',
    standard LowCardinality(String) COMMENT 'standard.standard: naaqs_2009 or who_2021',
    period LowCardinality(String) COMMENT 'averaging time of the limit: 1h, 8h, 24h or year',
    value Float64 COMMENT 'limit, in unit',
    evaluated UInt32 COMMENT 'what was compared: valid days for 24h; days with {{.DayHours}} measured hours for 8h (largest 8-hour mean of the day); hours for 1h; 1 for year',
    exceeded UInt32 COMMENT 'how many of them were above the limit, compared in millionths',
    successive UInt32 COMMENT 'days above the limit that follow a day of measurement above the limit; that is a valid day for 24h and 8h, a day with an hour for 1h; 0 for year',
    largest Nullable(Float64) COMMENT 'largest of the compared figures, in unit; for year the mean',
    complies Nullable(Bool) COMMENT 'whether the limit was met by the rule of its standard; NULL below {{percent .Capture}} % capture (of measured hours for 1h and 8h), or if nothing was compared',
    measured_hours UInt32 COMMENT 'hours with a measured mean, on which 1h and 8h rest; a published mean of a day has none',
    {{- template "capture columns" .}}
)
AS
SELECT station, place.name AS name, place.city AS city, place.state AS state, place.kind AS kind, parameter, parameter_unit(parameter) AS unit, year,
    standard, period, value, length(series) AS evaluated, arrayCount(x -> round(x, 6) > value, series) AS exceeded,
    arrayCount((a, b) -> round(a, 6) > value AND round(b, 6) > value, arrayPopFront(by_day), arrayPopBack(by_day)) AS successive,
    if(empty(series), NULL, arrayMax(series)) AS largest,
    multiIf(NOT complete OR empty(series) OR (period IN ('1h', '8h') AND measured_hours < {{.Capture}} * expected_hours), NULL,
        period = 'year', toBool(exceeded = 0 AND (standard != 'naaqs_2009' OR days >= 104)),
        toBool(100 * exceeded <= (100 - assumeNotNull(percentile)) * evaluated AND (standard != 'naaqs_2009' OR successive = 0))) AS complies,
    measured_hours, hours, 24 * dateDiff('day', makeDate(year, 1, 1), makeDate(year + 1, 1, 1)) AS {{template "capture" .}}
FROM
(
    -- by_day has a figure for each day of measurement, in the order of days. On two successive ones the NAAQS allow no exceedance.
    SELECT station, parameter, year, days, measured_hours, hours, rule.standard AS standard, rule.period AS period, rule.value AS value, rule.percentile AS percentile,
        multiIf(period = '24h', day_means, period = '8h', eights, period = '1h', day_hours, []) AS by_day,
        multiIf(period = '1h', all_hours, period = 'year', [mean], by_day) AS series
    FROM
    (
        SELECT station, parameter, toYear(day) AS year, countIf(weight >= {{.DayHours}}) AS days,
            sum(measured) AS measured_hours, sum(weight) AS hours, assumeNotNull(toFloat64(sum({{template "exact" "day_mean * weight"}})) / sum(weight)) AS mean,
            arrayMap(x -> x.2, arraySort(groupArrayIf((day, assumeNotNull(day_mean)), weight >= {{.DayHours}}))) AS day_means,
            arrayMap(x -> x.2, arraySort(groupArrayIf((day, assumeNotNull(eight)), measured >= {{.DayHours}} AND isNotNull(eight)))) AS eights,
            parameter IN (SELECT parameter FROM {{.Database}}.standard WHERE period = '1h') AS hourly,
            arrayMap(x -> x.2, arraySort(groupArrayIf((day, arrayMax(clock)), hourly AND notEmpty(clock)))) AS day_hours,
            groupArrayArrayIf(clock, hourly) AS all_hours
        FROM
        ({{template "days" .}} AND parameter IN (SELECT parameter FROM {{.Database}}.standard)
        )
        GROUP BY station, parameter, year
        HAVING hours > 0
    ) AS fact
    INNER JOIN {{.Database}}.standard AS rule ON rule.parameter = fact.parameter
) AS compared {{template "place" .}}
COMMENT 'How often limits were exceeded. One row per station, parameter, Indian year, standard and period.'
