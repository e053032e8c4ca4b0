package station

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/schema"
	"vayu/schema/air"
)

// QualityPage selects a page of the quality results of a station.
type QualityPage struct {
	Station  string
	From, To schema.Day
	limit    int
	after    []string // key of the previous page's last result; nil for the first page
}

var errCursor = schema.NewProblem(schema.InvalidRequest, "cursor", "The cursor is not from this list. Use next_cursor of the previous page.")

// The method `list` returns the name of this list, which its cursors contain. A cursor of another list is invalid.
func (q *QualityPage) list() string {
	return fmt.Sprintf("quality of %s %s %s", q.Station, q.From, q.To)
}

// Parse parses the parameters `limit` and `cursor`.
func (q *QualityPage) Parse(params map[string]string) error {
	limit, wrong := httpapi.PageSize(params)
	if wrong != nil {
		return wrong
	}
	q.limit = limit
	text, ok := params["cursor"]
	if !ok {
		return nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	parts := strings.Split(string(raw), "\x00")
	if err != nil || len(parts) != 6 || parts[0] != q.list() {
		return errCursor
	}
	for _, i := range [...]int{1, 5} {
		if _, err := strconv.ParseUint(parts[i], 10, 32); err != nil {
			return errCursor
		}
	}
	q.after = parts[1:]
	return nil
}

// cursor returns the cursor of the page that begins after result r.
func (q *QualityPage) cursor(r *air.QualityResult) *string {
	key := []string{q.list(), strconv.FormatInt(r.At.Unix(), 10), r.Parameter, r.Test, r.Kind, strconv.Itoa(int(r.Averaging))}
	text := base64.RawURLEncoding.EncodeToString([]byte(strings.Join(key, "\x00")))
	return &text
}

// Quality reads the results of a station's quality tests: counts for each test, and one page of results.
func Quality(ctx context.Context, t aggregate.Tables, q QualityPage) (*air.QualityReply, error) {
	reply := &air.QualityReply{
		Status: schema.Success, Station: q.Station, From: q.From.String(), To: q.To.String(),
		Tests: []air.QualityCount{}, Data: []air.QualityResult{},
	}
	const selected = ` FROM %s.reading_quality FINAL
		WHERE station = {station:String} AND at > toDateTime({from:UInt32}, 'UTC') AND at <= toDateTime({to:UInt32}, 'UTC')`
	args := []any{aggregate.Param("station", q.Station), aggregate.Number("from", max(q.From.Start().Unix(), 0)), aggregate.Number("to", max(q.To.End().Unix(), 0))}
	var (
		count       air.QualityCount
		first, last uint32
	)
	err := t.Each(ctx, []any{&count.Parameter, &count.Test, &count.Version, &count.Flag, &count.Count, &first, &last},
		func() {
			count.First, count.Last = aggregate.Instant(first), aggregate.Instant(last)
			reply.Tests = append(reply.Tests, count)
		},
		t.SQL(`SELECT toString(parameter) AS p, toString(test) AS t, version, toString(flag), count(), toUInt32(min(at)), toUInt32(max(at))`+selected+
			` GROUP BY p, t, version, flag ORDER BY p, t, version, flag`), args...)
	if err != nil {
		return nil, fmt.Errorf("counting quality results: %w", err)
	}
	if reply.NOxForm, err = readNOxForm(ctx, t, q); err != nil {
		return nil, err
	}
	behind := ""
	if q.after != nil {
		behind = ` AND (at < toDateTime({at:UInt32}, 'UTC') OR at = toDateTime({at:UInt32}, 'UTC') AND (parameter, test, toString(kind), averaging) > ({parameter:String}, {test:String}, {kind:String}, {averaging:UInt16}))`
		args = append(args, aggregate.Param("at", q.after[0]), aggregate.Param("parameter", q.after[1]), aggregate.Param("test", q.after[2]), aggregate.Param("kind", q.after[3]), aggregate.Param("averaging", q.after[4]))
	}
	var (
		row air.QualityResult
		at  uint32
	)
	err = t.Each(ctx, []any{&row.Parameter, &at, &row.Kind, &row.Averaging, &row.Test, &row.Version, &row.Flag, &row.Detail},
		func() {
			row.At = aggregate.Instant(at)
			reply.Data = append(reply.Data, row)
		},
		t.SQL(`SELECT toString(parameter), toUInt32(at), toString(kind), averaging, toString(test), version, toString(flag), detail`+selected)+behind+
			` ORDER BY at DESC, parameter, test, toString(kind), averaging LIMIT `+strconv.Itoa(q.limit+1), args...)
	if err != nil {
		return nil, fmt.Errorf("reading quality results: %w", err)
	}
	if len(reply.Data) > q.limit {
		reply.Data, reply.HasMore = reply.Data[:q.limit], true
		reply.NextCursor = q.cursor(&reply.Data[q.limit-1])
	}
	return reply, nil
}

// readNOxForm returns the assumption about the units of NO, NO2 and NOx, such as "one_unit", that fits at least 70 % of
// the tested times. It returns "neither" if no assumption fits so many times, and nil if no time was tested.
func readNOxForm(ctx context.Context, t aggregate.Tables, q QualityPage) (*string, error) {
	var found *string
	var name string
	err := t.Each(ctx, []any{&name}, func() { found = &name },
		t.SQL(`SELECT multiIf(greatest(d, z, o) < 0.7 * (d + z + o + n), 'neither', d >= greatest(z, o), 'documented', z >= o, 'zero_celsius', 'one_unit')
			FROM (SELECT sum(documented) AS d, sum(zero_celsius) AS z, sum(one_unit) AS o, sum(neither) AS n FROM %s.nox_form FINAL
				WHERE station = {station:String} AND day >= toDate({from:Int32}) AND day <= toDate({to:Int32}))
			WHERE d + z + o + n > 0`),
		aggregate.Param("station", q.Station), aggregate.Number("from", int32(q.From)), aggregate.Number("to", int32(q.To)))
	if err != nil {
		return nil, fmt.Errorf("reading the units of NOx: %w", err)
	}
	return found, nil
}
