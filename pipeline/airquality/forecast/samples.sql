    -- One row per series (place and parameter), day with a value (base) and horizon.
    -- level and target are natural logarithms. normal is the climatology of the target day. Missing figures are NaN.
    SELECT place_kind, place, state, parameter, days, {first:Date} + toUInt16(position - 1) AS base, ahead.1 AS horizon, base + horizon AS day,
        level, own_normal, anomaly, week, ahead.2 AS target, ahead.3 AS normal, steady
    FROM
    (
        SELECT place_kind, place, state, parameter, days, position, level, own_normal, anomaly, week, steady,
            arrayJoin([{{range $i, $h := .Horizons}}{{if $i}}, {{end}}(toUInt8({{$h}}), target{{$h}}, normal{{$h}}){{end}}]) AS ahead
        FROM
        (
            SELECT place_kind, place, state, parameter, days, levels, steady,
                if(empty(climate), arrayResize([nan], {{.Length}} + {{.Farthest}}, nan),
                    arrayMap(d -> toFloat64(climate[least(toDayOfYear({first:Date} + toUInt16(d)), 365)]), range({{.Length}} + {{.Farthest}}))) AS normals,
                arrayMap((l, n) -> l - n, levels, arraySlice(normals, 1, {{.Length}})) AS anomalies,
                arrayCumSum(arrayConcat([0., 0., 0., 0., 0., 0., 0.], arrayMap(a -> if(isNaN(a), 0., a), anomalies))) AS sums,
                arrayCumSum(arrayConcat([0, 0, 0, 0, 0, 0, 0], arrayMap(a -> isNaN(a) ? 0 : 1, anomalies))) AS counts,
                arrayMap((s, p, n, m) -> if(n - m >= {{.MinWeek}}, (s - p) / (n - m), nan),
                    arraySlice(sums, 8), arraySlice(sums, 1, {{.Length}}), arraySlice(counts, 8), arraySlice(counts, 1, {{.Length}})) AS weeks
            FROM
            (
                SELECT place_kind, place, state, parameter, groupArrayInsertAt(nan, {{.Length}})(value, toUInt32(day - {first:Date})) AS levels,
                    arrayFilter(l -> NOT isNaN(l), arraySlice(levels, -7)) AS last_week, length(last_week) >= 5 AND arrayUniq(last_week) = 1 AS steady
                FROM
                (
                    SELECT place_kind, place, state, day, arrayJoin({slots:Array(UInt8)}) AS slot, {{.Names}}[slot] AS parameter, assumeNotNull(amounts[slot]) AS amount,
                        if(isNull(amounts[slot]) OR NOT (amount > 0 AND amount < {{.Largest}}), nan, log(amount)) AS value
                    FROM {{.Database}}.forecast_input
                    WHERE input = {input:String} AND known_at <= {known:DateTime64(3, 'UTC')} AND day BETWEEN {first:Date} AND {base:Date}
                )
                GROUP BY place_kind, place, state, parameter
            ) AS series
            LEFT JOIN
            (
                SELECT place_kind, place, state, parameter, days, climate FROM {{.Database}}.forecast_climate
                WHERE run = {run:String} AND fitted_at = {fitted:DateTime64(3, 'UTC')}
            ) AS climatology USING (place_kind, place, state, parameter)
        )
        ARRAY JOIN arrayEnumerate(levels) AS position, levels AS level, arraySlice(normals, 1, {{.Length}}) AS own_normal, anomalies AS anomaly, weeks AS week
            {{- range .Horizons}}, arrayResize(arraySlice(levels, {{.}} + 1), {{$.Length}}, nan) AS target{{.}}, arraySlice(normals, {{.}} + 1, {{$.Length}}) AS normal{{.}}{{end}}
    )
    WHERE NOT isNaN(level)
