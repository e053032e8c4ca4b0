package statistics

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"vayu/query/aggregate"
	"vayu/schema"
	"vayu/schema/air"
)

// Read reads one page of a view. It takes at most [aggregate.QueryTimeout].
func Read(ctx context.Context, t aggregate.Tables, q Request) (*air.StatisticsReply, error) {
	ctx, cancel := context.WithTimeout(ctx, aggregate.QueryTimeout)
	defer cancel()
	reply := &air.StatisticsReply{Status: schema.Success, View: q.view.name, Data: []json.RawMessage{}}
	var key, row, last string
	query, args := q.sql(t.Database)
	err := t.Each(ctx, []any{&key, &row}, func() {
		if len(reply.Data) == q.limit {
			reply.HasMore = true
			return
		}
		last = key
		reply.Data = append(reply.Data, json.RawMessage(row))
	}, query, args...)
	if err != nil {
		return nil, fmt.Errorf("reading the view %q: %w", q.view.name, err)
	}
	if reply.HasMore {
		reply.NextCursor = q.cursor(last)
	}
	return reply, nil
}

// sql returns the query for a page. The query reads one row more than the page has, to detect a further page.
// ClickHouse writes each row as JSON, so a new column of a view needs no code here.
func (q *Request) sql(database string) (query string, args []any) {
	conditions := []string{"1"}
	where := func(condition string, values ...any) {
		conditions = append(conditions, condition)
		args = append(args, values...)
	}
	q.whereIs(database, where)
	if len(q.parameters) > 0 {
		where("parameter IN {parameters:Array(String)}", aggregate.Param("parameters", q.parameters))
	}
	if q.standard != "" {
		where("standard = {standard:String}", aggregate.Param("standard", q.standard))
	}
	from, to := q.columns()
	if q.given.from {
		where(from, aggregate.Number("from", int32(q.from)))
	}
	if q.given.to {
		where(to, aggregate.Number("to", int32(q.to)))
	}
	if q.after != "" {
		where("key > {after:String}", aggregate.Param("after", q.after))
	}
	return fmt.Sprintf(`SELECT %s AS key, formatRowNoNewline('JSONEachRow', * EXCEPT (%s), CAST(%s, 'Tuple(hours UInt32, expected_hours UInt32, capture Float64, complete Bool)') AS coverage)
		FROM %s.%s WHERE %s ORDER BY key LIMIT %s SETTINGS distributed_product_mode = 'global', output_format_json_escape_forward_slashes = 0`,
		q.view.key, q.view.except, q.view.coverage, database, q.view.name, strings.Join(conditions, " AND "), strconv.Itoa(q.limit+1)), args
}

// columns returns the SQL conditions for the parameters "from" and "to". A row counts if its period overlaps the range.
func (q *Request) columns() (from, to string) {
	const first, last = "toDate({from:Int32})", "toDate({to:Int32})"
	switch q.view.period {
	case months:
		return "month >= toStartOfMonth(" + first + ")", "month <= " + last
	case years:
		return "year >= toYear(" + first + ")", "year <= toYear(" + last + ")"
	case seasons:
		return "(" + monthOfSeason("2, 5, 9, 12") + " > " + first + ")", "(" + monthOfSeason("0, 2, 5, 9") + " <= " + last + ")"
	default:
		return "day >= " + first, "day <= " + last
	}
}

// monthOfSeason returns an SQL expression for the first day of a month of the row's season. `months` has the number
// of that month (January is 0) for winter, pre-monsoon, monsoon and post-monsoon.
func monthOfSeason(months string) string {
	return "addMonths(makeDate(year, 1, 1), transform(season, ['winter', 'pre-monsoon', 'monsoon', 'post-monsoon'], [" + months + "], 0))"
}

// whereIs adds the conditions on the place and on the kinds of stations. In views of stations, the condition selects
// stations by id, because the tables are sorted by station.
func (q *Request) whereIs(database string, where func(string, ...any)) {
	var conditions []string
	var args []any
	if q.city != "" {
		conditions, args = append(conditions, "city = {city:String}"), append(args, aggregate.Param("city", q.city))
	}
	if q.state != "" {
		conditions, args = append(conditions, "state = {state:String}"), append(args, aggregate.Param("state", q.state))
	}
	switch {
	case q.station != "":
		where("station = {station:String}", aggregate.Param("station", q.station))
	case q.view.ofCities && len(conditions) > 0:
		where(strings.Join(conditions, " AND "), args...)
	case len(conditions) > 0:
		conditions, args = append(conditions, "toString(kind) IN {kinds:Array(String)}"), append(args, aggregate.Param("kinds", q.kinds))
		where("station IN (SELECT id FROM "+database+".station FINAL WHERE "+strings.Join(conditions, " AND ")+")", args...)
	}
}
