-- Compares an hour of a station with the same hour of reference stations within 10 km.
-- A change at a station can change the results of stations nearby.
{{template "insert" .}}
places AS
(
    SELECT id, kind, latitude, longitude, toInt32(floor(latitude / {{.Cell}})) AS row, toInt32(floor(longitude / {{.Cell}})) AS col
    FROM {{.Database}}.station FINAL
    WHERE (latitude != 0 OR longitude != 0) AND kind != 'city_mean'
),
listed AS
(
    SELECT id, latitude, longitude, row, col FROM places WHERE kind = 'reference' ORDER BY id LIMIT {{.CellMost}} BY row, col
),
pairs AS
(
    SELECT a.id AS subject, b.id AS neighbour
    FROM (SELECT id, kind, latitude, longitude, row + tupleElement(step, 1) AS row, col + tupleElement(step, 2) AS col
        FROM places ARRAY JOIN [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 0), (0, 1), (1, -1), (1, 0), (1, 1)] AS step) AS a
    INNER JOIN listed AS b ON a.row = b.row AND a.col = b.col
    WHERE a.id != b.id AND geoDistance(a.longitude, a.latitude, b.longitude, b.latitude) BETWEEN if(a.kind = 'reference', {{.SameMetres}}, 0) AND {{.NearMetres}}
),
subjects AS
(
    SELECT subject, groupArray(neighbour) AS others
    FROM pairs
    GROUP BY subject
    HAVING count() >= {{.NearLeast}} AND (subject IN {stations:Array(String)} OR countIf(neighbour IN {stations:Array(String)}) > 0)
),
hours AS
(
    SELECT station, parameter, {{.HourOf}} AS hour, avg(value) AS mean, groupArray((at, averaging, source)) AS readings
    FROM {{.Database}}.reading FINAL
    WHERE kind = 'concentration' AND averaging <= 60 AND parameter IN ({{.NearNames}})
        AND station IN (SELECT arrayJoin(arrayPushBack(others, subject)) FROM subjects)
        AND at > {{.FirstHour}} - INTERVAL 1 HOUR AND at <= {{.LastHour}}
        AND {{template "counts" .}}
    GROUP BY station, parameter, hour
),
compared AS
(
    SELECT own.station AS station, own.parameter AS parameter, own.hour AS hour, any(own.mean) AS mean, any(own.readings) AS readings,
        min(other.mean) AS lowest, max(other.mean) AS highest, median(other.mean) AS middle, count() AS number
    FROM (SELECT subject, arrayJoin(others) AS neighbour FROM subjects) AS near
    INNER JOIN hours AS own ON own.station = near.subject
    INNER JOIN hours AS other ON other.station = near.neighbour AND other.parameter = own.parameter AND other.hour = own.hour
    GROUP BY own.station, own.parameter, own.hour
    HAVING number >= {{.NearLeast}}
        AND (mean > {{.NearFactor}} * highest OR {{.NearFactor}} * mean < lowest)
        AND abs(mean - middle) > transform(parameter, [{{.NearNames}}], [{{.NearFloors}}], toFloat64(0))
),
found AS
(
    SELECT station, parameter, tupleElement(reading, 1) AS at, 'concentration' AS kind, tupleElement(reading, 2) AS averaging, tupleElement(reading, 3) AS source,
        'neighbours' AS test, 'suspect' AS flag,
        concat('hourly mean ', toString(round(mean, 1)), ', of ', toString(number), ' neighbours ', toString(round(lowest, 1)), ' to ', toString(round(highest, 1))) AS detail
    FROM compared
    ARRAY JOIN readings AS reading
),
{{template "changes" .}}
