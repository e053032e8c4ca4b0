package sources

import (
	"context"
	"fmt"
	"time"

	"vayu/query/aggregate"
	"vayu/schema"
	"vayu/schema/air"
)

// addCoverage adds the number of readings in each hour of the last 7 days.
func (l *Lists) addCoverage(ctx context.Context, reply *air.SourcesReply, world schema.World, now time.Time) error {
	const hour = int64(time.Hour / time.Second)
	// Indian hours end at hh:30 UTC. `last` is the end of the running hour.
	last := (now.Unix()+hour/2-1)/hour*hour + hour/2
	first := last - (air.CoverageHours-1)*hour
	byName := make(map[string][]uint32, len(reply.Data))
	for i := range reply.Data {
		one := &reply.Data[i]
		one.Coverage = air.Coverage{From: time.Unix(first, 0).UTC(), Hours: make([]uint32, air.CoverageHours)}
		byName[one.Name] = one.Coverage.Hours
	}
	var name string
	var end, n uint32
	err := l.ops.Each(ctx, []any{&name, &end, &n}, func() {
		if hours := byName[name]; hours != nil {
			hours[(int64(end)-first)/hour] = n
		}
	}, l.ops.SQL(`SELECT toString(source) AS name, toUInt32(end), max(n)
		FROM (SELECT source, arrayJoin(hours) AS hour, hour.1 AS end, hour.2 AS n FROM %s.source_run FINAL
			WHERE world = {world:String} AND started >= fromUnixTimestamp64Micro({since:Int64}))
		WHERE end >= {first:UInt32} AND end <= {last:UInt32} GROUP BY name, end`),
		aggregate.Param("world", world.String()), aggregate.Number("since", time.Unix(first-hour, 0).UnixMicro()),
		aggregate.Number("first", first), aggregate.Number("last", last))
	if err != nil {
		return fmt.Errorf("reading the coverage of sources: %w", err)
	}
	return nil
}

// addProblems adds the problems and the states of the sources. If it cannot read the problems, all states are unknown.
func (l *Lists) addProblems(ctx context.Context, reply *air.SourcesReply, world schema.World) {
	found, err := l.problemsOf(ctx, world)
	for i := range reply.Data {
		one := &reply.Data[i]
		one.Problems, one.State = []air.OpenProblem{}, air.SourceGood
		for _, p := range found[one.Name] {
			since, _ := time.Parse(time.RFC3339, p.Since)
			one.Problems, one.State = append(one.Problems, air.OpenProblem{Problem: p.Problem, Since: since}), air.SourceBad
		}
		if err != nil {
			one.State = air.SourceUnknown
		}
	}
}

// problemsOf returns the problems of the sources of a world.
func (l *Lists) problemsOf(ctx context.Context, world schema.World) (map[string][]air.FoundProblem, error) {
	if l.problems == nil {
		return nil, nil
	}
	return l.problems(ctx, world)
}
