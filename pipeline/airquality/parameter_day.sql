-- Plain means of Indian days per station and parameter, from hours. Hours take precedence over the source's mean of
-- the day once there are enough of them for a 24-hour mean.
-- Parameters: from and to, the first and last changed hour; stations; computed, the start of the pass.
INSERT INTO {{.Database}}.station_parameter_day
    (station, parameter, day, mean, minimum, maximum, count, expected, suspect, excluded, flag, updated, computed_at)
WITH
hours AS
(
    SELECT station, parameter, toDate(at + {{.IndiaSeconds}} - 1) AS day, at, kind, mean, minimum, maximum, suspect, excluded, toInt8(flag) AS verdict, updated
    FROM {{.Database}}.station_parameter_hour FINAL
    WHERE kind IN ('concentration', 'daily_mean')
        AND at > toDateTime(toDate({from:DateTime('UTC')} + {{.IndiaSeconds}} - 1), 'UTC') - {{.IndiaSeconds}}
        AND at <= toDateTime(toDate({to:DateTime('UTC')} + {{.IndiaSeconds}} - 1), 'UTC') - {{.IndiaSeconds}} + 86400
        AND station IN {stations:Array(String)}
),
days AS
(
    SELECT station, parameter, day,
        countIf(kind = 'concentration' AND isNotNull(mean)) AS measured,
        argMaxOrNullIf(mean, at, kind = 'daily_mean') AS published_mean,
        if(parameter = 'wind_direction',
            positiveModulo(degrees(atan2(avgOrNullIf(sin(radians(mean)), kind = 'concentration'), avgOrNullIf(cos(radians(mean)), kind = 'concentration'))), 360),
            avgOrNullIf(mean, kind = 'concentration')) AS measured_mean,
        minOrNullIf(minimum, kind = 'concentration') AS low, maxOrNullIf(maximum, kind = 'concentration') AS high,
        sum(suspect) AS suspects, sum(excluded) AS excludes, greatest(maxIf(verdict, isNotNull(mean)), if(countIf(isNotNull(mean)) = 0, 4, 0)) AS worst, max(updated) AS latest
    FROM hours
    GROUP BY station, parameter, day
),
chosen AS (SELECT *, measured < {{.MinHours}} AND isNotNull(published_mean) AS published FROM days)
SELECT station, parameter, day,
    if(published, published_mean, measured_mean),
    if(published, published_mean, low), if(published, published_mean, high),
    toUInt16(if(published, 1, measured)), toUInt16(if(published, 1, 24)),
    toUInt16(least(suspects, 65535)), toUInt16(least(excludes, 65535)),
    CAST(toInt8(worst), 'Enum8(\'good\' = 1, \'not_evaluated\' = 2, \'suspect\' = 3, \'fail\' = 4, \'missing\' = 9)'),
    latest, {computed:DateTime64(3, 'UTC')}
FROM chosen
{{.Settings}}
