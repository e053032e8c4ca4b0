// Package sources lists the sources of readings with their last runs, problems and progress.
package sources

import (
	"context"
	"fmt"
	"sync"
	"time"

	"vayu/query/aggregate"
	"vayu/schema"
	"vayu/schema/air"
)

const (
	// maxAge is how long a list is cached. Because of the cache, one account cannot occupy ClickHouse with this query.
	maxAge = 10 * time.Second
	// runsRange is the largest age of the runs in a list.
	runsRange = 30 * 24 * time.Hour
)

// Problems returns the present problems of the sources of a world, by the name of the source.
type Problems func(ctx context.Context, world schema.World) (map[string][]air.FoundProblem, error)

// Progress returns the progress of the sources of a world, by the name of the source.
type Progress func(ctx context.Context, world schema.World) (map[string]*air.SourceProgress, error)

// Lists has the lists of sources of both worlds (live and sandbox). It is safe for
// concurrent use.
type Lists struct {
	ops      aggregate.Tables
	problems Problems
	progress Progress
	worlds   [len(schema.Worlds)]list
}

// list caches the last list of a world.
type list struct {
	mu    sync.Mutex
	until time.Time // end of the validity of `reply`
	reply *air.SourcesReply
}

// New returns the lists of the sources whose runs are in a database, normally [schema.OpsDatabase]. If `progress` is
// nil, the progress of the sources is unknown.
func New(conn aggregate.Conn, database string, problems Problems, progress Progress) *Lists {
	return &Lists{ops: aggregate.NewTables(conn, database).WithBreaker(conn, "runs of sources"), problems: problems, progress: progress}
}

// Of returns the list of a world's sources. The list is at most maxAge old. The caller must not change the reply.
func (l *Lists) Of(ctx context.Context, world schema.World, now time.Time) (*air.SourcesReply, error) {
	last := &l.worlds[world]
	last.mu.Lock()
	defer last.mu.Unlock()
	if last.reply == nil || !now.Before(last.until) {
		ctx, cancel := context.WithTimeout(ctx, aggregate.QueryTimeout)
		defer cancel()
		reply, err := read(ctx, l.ops, world, now)
		if err == nil {
			err = l.addCoverage(ctx, reply, world, now)
		}
		if err != nil {
			return nil, aggregate.Unavailable(err)
		}
		l.addProblems(ctx, reply, world)
		l.addProgress(ctx, reply, world)
		last.reply, last.until = reply, now.Add(maxAge)
	}
	return last.reply, nil
}

// addProgress adds the progress of the sources to a list. If it cannot read the state store, the progress stays
// unknown.
func (l *Lists) addProgress(ctx context.Context, reply *air.SourcesReply, world schema.World) {
	if l.progress == nil {
		return
	}
	all, err := l.progress(ctx, world)
	if err != nil {
		return
	}
	for i := range reply.Data {
		reply.Data[i].Progress = all[reply.Data[i].Name]
	}
}

// read reads the runs of the last 30 days from the table source_run.
func read(ctx context.Context, ops aggregate.Tables, world schema.World, now time.Time) (*air.SourcesReply, error) {
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
			at := aggregate.Instant(newest)
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
		aggregate.Param("world", world.String()), aggregate.Number("since", now.Add(-runsRange).UnixMicro()), aggregate.Number("day", now.Add(-24*time.Hour).UnixMicro()))
	if err != nil {
		return nil, fmt.Errorf("reading the runs of sources: %w", err)
	}
	return reply, nil
}
