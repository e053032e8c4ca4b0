package query

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/rollup"
	"vayu/schema"
	"vayu/schema/air"
)

const (
	// runsRange is the age up to which the list of sources considers runs.
	runsRange = 30 * 24 * time.Hour
	// sourcesAge is how long a list of sources answers further calls. One account cannot
	// occupy ClickHouse with the query.
	sourcesAge = 10 * time.Second
)

// sourceList is the last list of the sources of a world (live or sandbox).
type sourceList struct {
	mu    sync.Mutex
	until time.Time // reply answers calls before this time
	reply *air.SourcesReply
}

// listSources handles GET /v1/sources.
func (s *Service) listSources(c *httpapi.Call) (httpapi.Response, error) {
	if _, err := listParams(c.URL.RawQuery); err != nil {
		return httpapi.Response{}, err
	}
	list := &s.worlds[c.World].sources
	list.mu.Lock()
	defer list.mu.Unlock()
	if now := s.now(); list.reply == nil || !now.Before(list.until) {
		ctx, cancel := context.WithTimeout(c.Context(), rollup.QueryTimeout)
		defer cancel()
		reply, err := readSources(ctx, s.ops, c.World, now)
		if err != nil {
			return httpapi.Response{}, rollup.Unavailable(err)
		}
		list.reply, list.until = reply, now.Add(sourcesAge)
	}
	return httpapi.Response{Value: list.reply, Cache: []string{"private, max-age=" + strconv.Itoa(int(sourcesAge.Seconds()))}}, nil
}

// readSources reads the runs of the last 30 days from the table source_run.
func readSources(ctx context.Context, ops rollup.Tables, world schema.World, now time.Time) (*air.SourcesReply, error) {
	reply := &air.SourcesReply{Status: schema.Success, Data: []air.Source{}}
	var (
		row             air.Source
		newest          uint32
		started, passed int64
	)
	last, day := &row.LastRun, &row.LastDay
	dest := []any{
		&row.Name, &newest, &passed, &last.ID, &started, &last.Kind, &last.Seconds, &last.Outcome, &last.Requests, &last.Bytes, &last.Stored, &last.Withdrawn, &last.Rejected,
		&day.Runs, &day.Failed, &day.Stored, &day.Withdrawn, &day.Rejected,
	}
	err := ops.Each(ctx, dest, func() {
		last.StartedAt = time.UnixMicro(started).UTC()
		row.NewestReading, row.LastSuccess = nil, nil
		if newest > 0 {
			at := rollup.Instant(newest)
			row.NewestReading = &at
		}
		if passed > 0 {
			at := time.UnixMicro(passed).UTC()
			row.LastSuccess = &at
		}
		reply.Data = append(reply.Data, row)
	}, ops.SQL(`SELECT toString(source) AS name, toUInt32(max(newest)), toInt64(maxIf(run, outcome = 'done')),
			max(run) AS id, toInt64(id), toString(argMax(kind, run)), argMax(seconds, run), toString(argMax(outcome, run)), argMax(requests, run), argMax(bytes, run), argMax(stored, run), argMax(withdrawn, run), argMax(rejected, run),
			countIf(run >= {day:UInt64}), countIf(run >= {day:UInt64} AND outcome != 'done'), sumIf(stored, run >= {day:UInt64}), sumIf(withdrawn, run >= {day:UInt64}), sumMapIf(rejected, run >= {day:UInt64})
		FROM %s.source_run FINAL
		WHERE world = {world:String} AND started >= fromUnixTimestamp64Micro({since:Int64}) GROUP BY name ORDER BY name`),
		rollup.Param("world", world.String()), rollup.Number("since", now.Add(-runsRange).UnixMicro()), rollup.Number("day", now.Add(-24*time.Hour).UnixMicro()))
	if err != nil {
		return nil, fmt.Errorf("reading the runs of sources: %w", err)
	}
	return reply, nil
}
