-- Computes plain means of hours for each station and parameter, from readings.
-- Parameters: from and to, the first and last hour; stations; computed, the start of the pass.
INSERT INTO {{.Database}}.station_parameter_hour
    (station, at, parameter, kind, mean, minimum, maximum, count, expected, suspect, excluded, flag, averaging, updated, computed_at)
WITH
(
    SELECT groupArray((station, parameter, from_at, to_at)) FROM {{.Database}}.withdrawal FINAL
    WHERE station IN {stations:Array(String)} AND from_at < {to:DateTime('UTC')} + INTERVAL 24 HOUR AND to_at > {from:DateTime('UTC')} - INTERVAL 1 HOUR
) AS withdrawn,
wanted AS
(
    -- A reading of up to an hour belongs to the clock hour that contains it, and a daily mean to the hour of its end.
    SELECT station, parameter, at AS ended, at AS stamp, value, kind, averaging,
        toDateTime(intDiv(toUnixTimestamp(at) + {{.ToHourEnd}}, 3600) * 3600 - {{.IndiaSeconds}}, 'UTC') AS hour
    FROM {{.Database}}.reading FINAL
    WHERE (averaging <= 60 OR averaging >= 1440)
        AND at > {from:DateTime('UTC')} - INTERVAL 1 HOUR AND at <= {to:DateTime('UTC')}
        AND station IN {stations:Array(String)}
    UNION ALL
    -- A reading of several hours belongs to each of these hours.
    SELECT station, parameter, least(at, hour) AS ended, at AS stamp, value, kind, averaging,
        arrayJoin(arrayMap(k -> toDateTime(intDiv(toUnixTimestamp(at) + {{.ToHourEnd}}, 3600) * 3600 - {{.IndiaSeconds}} - 3600 * k, 'UTC'),
            range(toUInt64(intDiv(averaging + 59, 60))))) AS hour
    FROM {{.Database}}.reading FINAL
    WHERE averaging > 60 AND averaging < 1440
        AND at > {from:DateTime('UTC')} - INTERVAL 1 HOUR AND at < {to:DateTime('UTC')} + INTERVAL 24 HOUR
        AND station IN {stations:Array(String)}
),
judged AS
(
    -- A reading of rain is the amount of its averaging interval. As an amount for each hour, rain can be averaged.
    SELECT wanted.station AS station, wanted.parameter AS parameter, ended, wanted.averaging AS averaging, hour,
        if(parameter = 'rain' AND averaging > 0, wanted.value * 60 / averaging, wanted.value) AS value,
        multiIf(wanted.kind = 'sub_index', 'sub_index', wanted.averaging >= 1440, 'daily_mean', 'concentration') AS figure,
        result.excluded > 0
            OR (notEmpty(withdrawn) AND arrayExists(w -> w.1 = station AND w.2 IN ('', parameter) AND stamp > w.3 AND stamp <= w.4, withdrawn)) AS out,
        greatest(result.worst, 1) AS severity
    FROM wanted
    LEFT JOIN {{.Flagged}} AS result
        ON result.station = wanted.station AND result.parameter = wanted.parameter AND result.at = wanted.stamp
        AND result.kind = wanted.kind AND result.averaging = wanted.averaging
    WHERE hour >= {from:DateTime('UTC')} AND hour <= {to:DateTime('UTC')}
)
SELECT station, hour, parameter, figure,
    multiIf(
        figure != 'concentration', argMaxOrNullIf(value, ended, NOT out),
        parameter = 'wind_direction', positiveModulo(degrees(atan2(avgOrNullIf(sin(radians(value)), NOT out), avgOrNullIf(cos(radians(value)), NOT out))), 360),
        avgOrNullIf(value, NOT out)) AS mean,
    minOrNullIf(value, NOT out), maxOrNullIf(value, NOT out),
    toUInt16(least(countIf(NOT out), 65535)),
    toUInt16(greatest(1, intDiv(60, least(min(averaging), 60)))),
    toUInt16(least(countIf(NOT out AND severity = 3), 65535)), toUInt16(least(countIf(out), 65535)),
    CAST(toInt8(if(countIf(NOT out) = 0, 4, maxIf(severity, NOT out))), 'Enum8(\'good\' = 1, \'not_evaluated\' = 2, \'suspect\' = 3, \'fail\' = 4, \'missing\' = 9)'),
    min(averaging), max(ended), {computed:DateTime64(3, 'UTC')}
FROM judged
GROUP BY station, hour, parameter, figure
{{.Settings}}
