{{define "triples"}}
triples AS
(
    SELECT station, at, averaging, toDate(intDiv(toUInt32(at) + {{.IndiaSeconds}} - 1, 86400)) AS day,
        anyIf(value, parameter = 'no') AS no, anyIf(value, parameter = 'no2') AS no2, anyIf(value, parameter = 'nox') AS nox,
        groupArray((parameter, source)) AS readings,
        -- The relative error of the sum of NO and NO2 in each form of NOx.
        [abs(no / {{.NO}} + no2 / {{.NO2}} - nox) / nox, abs(no / {{.NOCold}} + no2 / {{.NO2Cold}} - nox) / nox, abs(no + no2 - nox) / nox] AS off,
        if(arrayMin(off) <= {{.NOxForm}}, indexOf(off, arrayMin(off)), 4) AS form
    FROM {{.Database}}.reading FINAL
    WHERE kind = 'concentration' AND averaging <= 60 AND parameter IN ('no', 'no2', 'nox')
        AND station IN (SELECT station FROM {{.Database}}.reading WHERE parameter = 'nox' AND station IN {stations:Array(String)}
            AND at > {{.FirstDayStart}} AND at <= {{.LastDayEnd}}{{.Forward}})
        AND at > {{.FirstDayStart}} AND at <= {{.LastDayEnd}}{{.Forward}}
    GROUP BY station, at, averaging
    HAVING count() = 3 AND nox > {{.NOxLeast}}
){{end -}}
-- The units in which a station reports NO, NO2 and NOx, by day.
INSERT INTO {{.Database}}.nox_form (station, day, documented, zero_celsius, one_unit, neither, computed_at)
WITH
{{template "triples" .}},
counted AS
(
    SELECT station, day, countIf(form = 1) AS c1, countIf(form = 2) AS c2, countIf(form = 3) AS c3, countIf(form = 4) AS c4,
        1 AS now, toDateTime64(0, 3, 'UTC') AS computed
    FROM triples GROUP BY station, day
    UNION ALL
    SELECT station, day, documented, zero_celsius, one_unit, neither, 0, computed_at
    FROM {{.Database}}.nox_form FINAL
    WHERE station IN {stations:Array(String)}
        AND day >= toDate({{.FirstDayStart}} + INTERVAL {{.IndiaSeconds}} SECOND) AND day < toDate({{.LastDayEnd}} + INTERVAL {{.IndiaSeconds}} SECOND)
)
SELECT station, day, sumIf(c1, now = 1), sumIf(c2, now = 1), sumIf(c3, now = 1), sumIf(c4, now = 1),
    greatest(now64(3), max(computed) + toIntervalMillisecond(1))
FROM counted
GROUP BY station, day
HAVING (sumIf(c1, now = 1), sumIf(c2, now = 1), sumIf(c3, now = 1), sumIf(c4, now = 1)) != (sumIf(c1, now = 0), sumIf(c2, now = 0), sumIf(c3, now = 0), sumIf(c4, now = 0))
{{.Settings}}
