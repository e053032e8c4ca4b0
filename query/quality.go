package query

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/gorilla/mux"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// Limits of GET /v1/stations/{id}/quality, in days.
const (
	qualityDays     = 7 // if the query has no from
	mostQualityDays = 366
)

// stationQuality handles GET /v1/stations/{id}/quality.
func (s *Service) stationQuality(c *httpapi.Call) (httpapi.Response, error) {
	params, err := listParams(c.URL.RawQuery, "from", "to", "limit", "cursor")
	if err != nil {
		return httpapi.Response{}, err
	}
	from, to, err := qualityRange(params, schema.DayOf(s.now()))
	if err != nil {
		return httpapi.Response{}, err
	}
	a, snap, err := s.snapshotOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	i, ok := snap.byID[mux.Vars(c.Request)["id"]]
	if !ok {
		return httpapi.Response{}, schema.NewProblem(schema.NotFound, "id", "There is no such station.")
	}
	q := qualityQuery{station: snap.stations[i].ID, from: from, to: to}
	if err := q.page(params); err != nil {
		return httpapi.Response{}, err
	}
	ctx, cancel := context.WithTimeout(c.Context(), queryTimeout)
	defer cancel()
	reply, err := readQuality(ctx, a.tables, q)
	if err != nil {
		return httpapi.Response{}, unavailable(err)
	}
	return httpapi.Response{Value: reply, Cache: s.cacheControl(s.now())}, nil
}

// qualityRange parses from and to. The default is the seven days up to today.
func qualityRange(params map[string]string, today schema.Day) (from, to schema.Day, err error) {
	to = today
	if text, ok := params["to"]; ok {
		if to, err = parseDay("to", text); err != nil {
			return 0, 0, err
		}
	}
	from = to - qualityDays + 1
	if text, ok := params["from"]; ok {
		if from, err = parseDay("from", text); err != nil {
			return 0, 0, err
		}
	}
	switch {
	case to > today:
		return 0, 0, invalid("to", "The range ends in the future (Indian time).")
	case from > to:
		return 0, 0, invalid("from", "The range ends before it begins.")
	case to-from >= mostQualityDays:
		return 0, 0, invalid("to", "A range has at most "+strconv.Itoa(mostQualityDays)+" days.")
	}
	return from, to, nil
}

// qualityQuery selects a page of a station's results.
type qualityQuery struct {
	station  string
	from, to schema.Day
	limit    int
	after    []string // key of the previous page's last result; nil for the first page
}

// list returns the text by which a cursor identifies the list that it belongs to.
func (q *qualityQuery) list() string {
	return fmt.Sprintf("quality of %s %s %s", q.station, q.from, q.to)
}

// page parses the parameters `limit` and `cursor`.
func (q *qualityQuery) page(params map[string]string) error {
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
		return invalid("cursor", "The cursor is not one that this list has given.")
	}
	for _, i := range [...]int{1, 5} {
		if _, err := strconv.ParseUint(parts[i], 10, 32); err != nil {
			return invalid("cursor", "The cursor is not one that this list has given.")
		}
	}
	q.after = parts[1:]
	return nil
}

// cursor returns the cursor of the page after a result.
func (q *qualityQuery) cursor(r *schema.QualityResult) *string {
	key := []string{q.list(), strconv.FormatInt(r.At.Unix(), 10), r.Parameter, r.Test, r.Kind, strconv.Itoa(int(r.Averaging))}
	text := base64.RawURLEncoding.EncodeToString([]byte(strings.Join(key, "\x00")))
	return &text
}

// readQuality reads the results of the quality tests at a station.
func readQuality(ctx context.Context, t tables, q qualityQuery) (*schema.QualityReply, error) {
	reply := &schema.QualityReply{
		Status: schema.Success, Station: q.station, From: q.from.String(), To: q.to.String(),
		Tests: []schema.QualityCount{}, Data: []schema.QualityResult{},
	}
	const selected = ` FROM %s.reading_quality FINAL
		WHERE station = {station:String} AND at > toDateTime({from:UInt32}, 'UTC') AND at <= toDateTime({to:UInt32}, 'UTC')`
	args := []any{param("station", q.station), number("from", max(q.from.Start().Unix(), 0)), number("to", max(q.to.End().Unix(), 0))}
	var (
		count       schema.QualityCount
		first, last uint32
	)
	err := t.each(ctx, []any{&count.Parameter, &count.Test, &count.Version, &count.Flag, &count.Count, &first, &last},
		func() {
			count.First, count.Last = instant(first), instant(last)
			reply.Tests = append(reply.Tests, count)
		},
		t.sql(`SELECT toString(parameter) AS p, toString(test) AS t, version, toString(flag), count(), toUInt32(min(at)), toUInt32(max(at))`+selected+
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
		args = append(args, param("at", q.after[0]), param("parameter", q.after[1]), param("test", q.after[2]), param("kind", q.after[3]), param("averaging", q.after[4]))
	}
	var (
		row schema.QualityResult
		at  uint32
	)
	err = t.each(ctx, []any{&row.Parameter, &at, &row.Kind, &row.Averaging, &row.Test, &row.Version, &row.Flag, &row.Detail},
		func() {
			row.At = instant(at)
			reply.Data = append(reply.Data, row)
		},
		t.sql(`SELECT toString(parameter), toUInt32(at), toString(kind), averaging, toString(test), version, toString(flag), detail`+selected)+behind+
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

// readNOxForm reads the units of NO, NO2 and NOx in which NO + NO2 = NOx holds on most
// days.
func readNOxForm(ctx context.Context, t tables, q qualityQuery) (*string, error) {
	var found *string
	var name string
	err := t.each(ctx, []any{&name}, func() { found = &name },
		t.sql(`SELECT multiIf(greatest(d, z, o) < 0.7 * (d + z + o + n), 'neither', d >= greatest(z, o), 'documented', z >= o, 'zero_celsius', 'one_unit')
			FROM (SELECT sum(documented) AS d, sum(zero_celsius) AS z, sum(one_unit) AS o, sum(neither) AS n FROM %s.nox_form FINAL
				WHERE station = {station:String} AND day >= toDate({from:Int32}) AND day <= toDate({to:Int32}))
			WHERE d + z + o + n > 0`),
		param("station", q.station), number("from", int32(q.from)), number("to", int32(q.to)))
	if err != nil {
		return nil, fmt.Errorf("reading the units of NOx: %w", err)
	}
	return found, nil
}
