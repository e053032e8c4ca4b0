package sources

import (
	"context"
	"fmt"
	"time"

	"vayu/query/aggregate"
	"vayu/schema"
	"vayu/schema/air"
)

// Detail returns the details of a source for operators; nil if the source did not run in the last 30 days. Lists does
// not cache the result, because few keys may read it.
func (l *Lists) Detail(ctx context.Context, world schema.World, name string, now time.Time) (*air.SourceDetail, error) {
	ctx, cancel := context.WithTimeout(ctx, aggregate.QueryTimeout)
	defer cancel()
	d := &air.SourceDetail{Name: name, Problems: []air.FoundProblem{}, Runs: []air.RunDetail{}, Rejected: []air.Rejected{}}
	params := []any{
		aggregate.Param("world", world.String()), aggregate.Param("source", name), aggregate.Number("since", now.Add(-runsRange).UnixMicro()),
	}
	err := l.readRuns(ctx, d, params)
	if err == nil && len(d.Runs) == 0 {
		return nil, nil
	}
	if err == nil {
		err = l.readRejected(ctx, d, params)
	}
	if err != nil {
		return nil, aggregate.Unavailable(fmt.Errorf("reading the runs of source %q: %w", name, err))
	}
	found, err := l.problemsOf(ctx, world)
	if err != nil {
		return nil, aggregate.Unavailable(err)
	}
	d.Problems = append(d.Problems, found[name]...)
	return d, nil
}

// ofSource is the WHERE clause of queries for the rows of one source since the parameter `since` (30 days ago).
const ofSource = " WHERE world = {world:String} AND source = {source:String} AND started >= fromUnixTimestamp64Micro({since:Int64}) "

func (l *Lists) readRuns(ctx context.Context, d *air.SourceDetail, params []any) error {
	var r air.RunDetail
	var started int64
	dest := []any{&r.ID, &started, &r.Kind, &r.Seconds, &r.Outcome, &r.Requests, &r.Bytes, &r.Stored, &r.Withdrawn, &r.Rejected, &r.Error}
	return l.ops.Each(ctx, dest, func() {
		r.StartedAt = time.UnixMicro(started).UTC()
		d.Runs = append(d.Runs, r)
		r.Rejected = nil
	}, l.ops.SQL(`SELECT run, toInt64(run), toString(kind), seconds, toString(outcome), requests, bytes, stored, withdrawn, rejected, error
		FROM %s.source_run FINAL`+ofSource+`ORDER BY run DESC LIMIT `+fmt.Sprint(air.SourceRunLimit)), params...)
}

func (l *Lists) readRejected(ctx context.Context, d *air.SourceDetail, params []any) error {
	var r air.Rejected
	var started int64
	dest := []any{&r.Run, &started, &r.Reason, &r.Field, &r.Station, &r.Line, &r.Raw}
	return l.ops.Each(ctx, dest, func() {
		r.StartedAt = time.UnixMicro(started).UTC()
		d.Rejected = append(d.Rejected, r)
	}, l.ops.SQL(`SELECT run, toInt64(run), toString(reason), toString(field), station, line, raw
		FROM %s.rejected FINAL`+ofSource+`ORDER BY run DESC, number LIMIT `+fmt.Sprint(air.RejectedLimit)), params...)
}
