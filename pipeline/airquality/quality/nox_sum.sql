-- Flags NO, NO2 and NOx that contradict the form of NOx that the station used in the
-- 30 days before.
{{template "insert" .}}
{{template "triples" .}},
forms AS
(
    SELECT station, wanted, [sum(documented), sum(zero_celsius), sum(one_unit)] AS counts,
        arrayMax(counts) AS most, arraySum(counts) + sum(neither) AS times
    FROM {{.Database}}.nox_form FINAL
    ARRAY JOIN arrayMap(d -> day + d, range(1, {{.NOxDays}} + 1)) AS wanted
    WHERE station IN {stations:Array(String)}
        AND day >= toDate({{.FirstDayStart}} + INTERVAL {{.IndiaSeconds}} SECOND) - {{.NOxDays}}
        AND day < toDate({{.LastDayEnd}} + INTERVAL {{.IndiaSeconds}} SECOND) + {{.NOxDays}}
    GROUP BY station, wanted
    HAVING times >= {{.NOxTimes}} AND most >= {{.NOxShare}} * times
),
found AS
(
    SELECT station, tupleElement(reading, 1) AS parameter, at, 'concentration' AS kind, averaging, tupleElement(reading, 2) AS source,
        'nox_sum' AS test, 'suspect' AS flag,
        concat('NO ', toString(no), ', NO2 ', toString(no2), ', NOx ', toString(nox), '; units of the station: ', ['documented', 'zero_celsius', 'one_unit'][indexOf(counts, most)]) AS detail
    FROM triples
    INNER JOIN forms ON forms.station = triples.station AND forms.wanted = triples.day
    ARRAY JOIN readings AS reading
    WHERE off[indexOf(counts, most)] > {{.NOxOff}}
),
{{template "changes" .}}
