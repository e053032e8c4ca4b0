-- Computes plain means of Indian days for each station and parameter, from hours. Hours take precedence over the
-- source's mean of the day if there are enough hours for a 24-hour mean.
-- Parameters: from and to, the first and last changed hour; stations; computed, the start of the pass.
INSERT INTO {{.Database}}.station_parameter_day
    (station, parameter, day, mean, minimum, maximum, count, expected, suspect, excluded, flag, updated, hours, present, max_8h, computed_at)
WITH
toDate({from:DateTime('UTC')} + {{.IndiaSeconds}} - 1) AS first_day,
toDate({to:DateTime('UTC')} + {{.IndiaSeconds}} - 1) AS last_day,
hours AS
(
    SELECT station, parameter, toDate(at + {{.IndiaSeconds}} - 1) AS day, at, kind, mean, minimum, maximum, suspect, excluded, toInt8(flag) AS severity, updated,
        intDiv(toUnixTimestamp(at) + {{.IndiaSeconds}} - 1, 3600) % 24 AS clock
    FROM {{.Database}}.station_parameter_hour FINAL
    WHERE kind IN ('concentration', 'daily_mean')
        AND at > toDateTime(first_day, 'UTC') - {{.IndiaSeconds}} - 7 * 3600
        AND at <= toDateTime(last_day, 'UTC') - {{.IndiaSeconds}} + 86400
        AND station IN {stations:Array(String)}
),
slots AS
(
    -- A day has 31 slots: the last 7 hours of the day before, and its own 24. An 8-hour mean belongs to the day in which it ends.
    SELECT *, arrayJoin(if(clock >= 17 AND kind = 'concentration', [(day, clock + 7), (day + 1, clock - 17)], [(day, clock + 7)])) AS slot,
        slot.2 >= 7 AS own, own AND kind = 'concentration' AS measured_hour
    FROM hours
),
days AS
(
    SELECT station, parameter, slot.1 AS day,
        countIf(measured_hour AND isNotNull(mean)) AS measured,
        argMaxOrNullIf(mean, at, kind = 'daily_mean') AS published_mean,
        if(parameter = 'wind_direction',
            positiveModulo(degrees(atan2(avgOrNullIf(sin(radians(mean)), measured_hour), avgOrNullIf(cos(radians(mean)), measured_hour))), 360),
            avgOrNullIf(mean, measured_hour)) AS measured_mean,
        minOrNullIf(minimum, measured_hour) AS low, maxOrNullIf(maximum, measured_hour) AS high,
        sumIf(suspect, own) AS suspects, sumIf(excluded, own) AS excludes,
        greatest(maxIf(severity, own AND isNotNull(mean)), if(countIf(own AND isNotNull(mean)) = 0, 4, 0)) AS worst, maxIf(updated, own) AS latest,
        groupArrayInsertAtIf(nan, 31)(assumeNotNull(mean), toUInt32(slot.2), kind = 'concentration' AND isNotNull(mean)) AS series
    FROM slots
    WHERE slot.1 BETWEEN first_day AND last_day
    GROUP BY station, parameter, day
    HAVING countIf(own) > 0
),
chosen AS (SELECT *, measured < {{.MinHours}} AND isNotNull(published_mean) AS published FROM days)
SELECT station, parameter, day,
    if(published, published_mean, measured_mean),
    if(published, published_mean, low), if(published, published_mean, high),
    toUInt16(if(published, 1, measured)), toUInt16(if(published, 1, 24)),
    toUInt16(least(suspects, 65535)), toUInt16(least(excludes, 65535)),
    CAST(toInt8(worst), 'Enum8(\'good\' = 1, \'not_evaluated\' = 2, \'suspect\' = 3, \'fail\' = 4, \'missing\' = 9)'),
    latest,
    arrayFilter(x -> NOT isNaN(x), arraySlice(series, 8, 24) AS own_hours),
    toUInt32(arraySum(arrayMap((x, n) -> if(isNaN(x), 0, bitShiftLeft(toUInt32(1), n)), own_hours, range(24)))),
    if(parameter = 'wind_direction', NULL, nullIf(arrayMax(arrayMap(w -> if(length(w) >= {{.MinHoursOf8}}, arrayAvg(w), -inf),
        arrayMap(k -> arrayFilter(x -> NOT isNaN(x), arraySlice(series, k, 8)), range(1, 25)))), -inf)),
    {computed:DateTime64(3, 'UTC')}
FROM chosen
{{.Settings}}
