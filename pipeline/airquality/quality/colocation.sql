-- Fits the hours of a reference station to the hours of a sensor beside it and its relative humidity,
-- by least squares: reference = slope * sensor + humidity * RH + intercept.
-- Failed and withdrawn readings are excluded.
INSERT INTO {{.Database}}.colocation (sensor, reference, hours_from, hours_to, distance_m, hours, slope, humidity, intercept, error, error_raw, r2)
WITH
places AS
(
    SELECT id, kind, latitude, longitude, latitude != 0 OR longitude != 0 AS located,
        toInt32(floor(latitude / {{.Cell}})) AS row, toInt32(floor(longitude / {{.Cell}})) AS col
    FROM {{.Database}}.station FINAL
),
pairs AS
(
    SELECT sensor, argMin(reference, distance) AS reference, min(distance) AS metres
    FROM
    (
        SELECT a.id AS sensor, b.id AS reference, geoDistance(a.longitude, a.latitude, b.longitude, b.latitude) AS distance
        FROM (SELECT id, latitude, longitude, row + tupleElement(step, 1) AS row, col + tupleElement(step, 2) AS col
            FROM places ARRAY JOIN [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 0), (0, 1), (1, -1), (1, 0), (1, 1)] AS step
            WHERE kind = 'sensor' AND located AND id NOT IN ({{.SensorsByHand}})) AS a
        INNER JOIN (SELECT id, latitude, longitude, row, col FROM places WHERE kind = 'reference' AND located) AS b ON a.row = b.row AND a.col = b.col
        WHERE distance <= {{.BesideMetres}}
    )
    GROUP BY sensor
    UNION ALL
    SELECT tupleElement(hand, 1), tupleElement(hand, 2), if(a.located AND b.located, geoDistance(a.longitude, a.latitude, b.longitude, b.latitude), nan)
    FROM (SELECT arrayJoin(CAST([{{.PairsByHand}}], 'Array(Tuple(String, String))')) AS hand) AS hands
    INNER JOIN places AS a ON a.id = tupleElement(hand, 1)
    INNER JOIN places AS b ON b.id = tupleElement(hand, 2)
),
hours AS
(
    SELECT station, {{.HourOf}} AS hour, avgIf(value, parameter = 'pm25') AS pm25, avgIf(value, parameter = 'humidity') AS rh,
        countIf(parameter = 'humidity') > 0 AS humid
    FROM {{.Database}}.reading FINAL
    WHERE kind = 'concentration' AND averaging <= 60 AND parameter IN ('pm25', 'humidity')
        AND (station IN (SELECT sensor FROM pairs) OR station IN (SELECT reference FROM pairs))
        AND at > {{.FirstHour}} - INTERVAL 1 HOUR AND at <= {{.LastHour}}
        AND (station, parameter, at, kind, averaging) NOT IN (
            SELECT station, parameter, at, kind, averaging FROM {{.Database}}.reading_quality FINAL
            WHERE flag = 'fail' AND parameter = 'pm25' AND at > {{.FirstHour}} - INTERVAL 1 HOUR AND at <= {{.LastHour}})
        AND {{template "counts" .}}
    GROUP BY station, hour
    HAVING countIf(parameter = 'pm25') > 0
),
sums AS
(
    SELECT pairs.sensor AS sensor, pairs.reference AS reference, any(metres) AS metres, count() AS number,
        avg(x.pm25) AS mx, avg(x.rh) AS mh, avg(y.pm25) AS my,
        varPopStable(x.pm25) AS vx, varPopStable(x.rh) AS vh, varPopStable(y.pm25) AS vy,
        covarPopStable(x.pm25, x.rh) AS cxh, covarPopStable(x.pm25, y.pm25) AS cxy, covarPopStable(x.rh, y.pm25) AS chy,
        sqrt(avg((y.pm25 - x.pm25) * (y.pm25 - x.pm25))) AS raw_error, vx * vh - cxh * cxh AS determinant
    FROM pairs
    INNER JOIN hours AS x ON x.station = pairs.sensor
    INNER JOIN hours AS y ON y.station = pairs.reference AND y.hour = x.hour
    WHERE x.humid
    GROUP BY pairs.sensor, pairs.reference
    HAVING number >= {{.FitHours}} AND determinant > 1e-9 * vx * vh AND vy > 0
)
SELECT sensor, reference, {{.FirstHour}}, {{.LastHour}}, metres, number,
    (cxy * vh - chy * cxh) / determinant AS by_sensor, (chy * vx - cxy * cxh) / determinant AS by_humidity, my - by_sensor * mx - by_humidity * mh,
    sqrt(greatest(vy - by_sensor * cxy - by_humidity * chy AS rest, 0) * number / (number - 3)), raw_error, 1 - greatest(rest, 0) / vy
FROM sums
{{.Settings}}
