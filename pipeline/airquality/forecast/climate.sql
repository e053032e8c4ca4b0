-- The climatology of each series: the mean logarithm of each day of the year ± {{.ClimateReach}} days, over all years.
-- Only series with enough history have one. 29 February shifts the days after it by one.
-- Parameters: see fit.go.
INSERT INTO {{.Database}}.forecast_climate (run, fitted_at, place_kind, place, state, parameter, days, climate)
SELECT {run:String}, {fitted:DateTime64(3, 'UTC')}, place_kind, place, state, parameter, days,
    arrayMap(i -> if(number[i + {{.ClimateWidth}}] - number[i] >= {{.MinClimate}}, toFloat32((total[i + {{.ClimateWidth}}] - total[i]) / (number[i + {{.ClimateWidth}}] - number[i])), nan), range(1, 366))
FROM
(
    SELECT place_kind, place, state, parameter, toUInt32(sum(n)) AS days,
        groupArrayInsertAt(0., 365)(level, toUInt32(day_of_year - 1)) AS levels, groupArrayInsertAt(0, 365)(toInt64(n), toUInt32(day_of_year - 1)) AS numbers,
        arrayCumSum(arrayConcat([0.], arraySlice(levels, 366 - {{.ClimateReach}}), levels, arraySlice(levels, 1, {{.ClimateReach}}))) AS total,
        arrayCumSum(arrayConcat([0], arraySlice(numbers, 366 - {{.ClimateReach}}), numbers, arraySlice(numbers, 1, {{.ClimateReach}}))) AS number
    FROM
    (
        SELECT place_kind, place, state, {{.Names}}[slot] AS parameter, least(toDayOfYear(day), 365) AS day_of_year, sum(log(amount)) AS level, count() AS n
        FROM
        (
            SELECT place_kind, place, state, day, arrayJoin({slots:Array(UInt8)}) AS slot, ifNull(amounts[slot], 0) AS amount
            FROM {{.Database}}.forecast_input
            WHERE input = {input:String} AND known_at <= {known:DateTime64(3, 'UTC')} AND day BETWEEN {first:Date} AND {base:Date}
        )
        WHERE amount > 0 AND amount < {{.Largest}}
        GROUP BY place_kind, place, state, slot, day_of_year
    )
    GROUP BY place_kind, place, state, parameter
    HAVING days >= {{.MinHistory}}
)
{{.Settings}}
