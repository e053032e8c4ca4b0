package ingest

import (
	"fmt"
	"slices"
	"strings"

	"vayu/schema"
	"vayu/schema/gazetteer"
)

// stationCache holds the stations and aliases in memory, and the changes that are
// not stored yet.
type stationCache struct {
	known      map[string]schema.Station
	aliases    map[string]alias
	placements map[string]placement // by id; the next cache takes them over
	index      *stationIndex        // built on first use

	changed    map[string]bool // ids whose row must be stored
	newAliases []alias
	changes    []change
}

// alias redirects the readings of one id to another.
type alias struct{ alias, station, reason, actor string }

// change is a row of station_change.
type change struct{ station, field, before, after, source, reason string }

// ingestActor is the actor of automatic aliases.
const ingestActor = "ingest"

func newStationCache(known map[string]placement) *stationCache {
	if known == nil {
		known = make(map[string]placement)
	}
	return &stationCache{
		known: make(map[string]schema.Station), aliases: make(map[string]alias),
		placements: known, changed: make(map[string]bool),
	}
}

// describe merges a source's description of a station. It reports whether it
// refused the described position, which is then too far from the known one.
func (b *stationCache) describe(s schema.Station) (refused bool) {
	a, aliased := b.aliases[s.ID]
	_, ok := b.known[s.ID]
	if !ok && !aliased {
		candidate := s
		b.locate(&candidate)
		if into, reason, same := b.match(&candidate); same {
			a, aliased = alias{s.ID, into, reason, ingestActor}, true
			b.aliases[s.ID] = a
			b.newAliases = append(b.newAliases, a)
			b.log(change{into, "alias", "", s.ID, s.Source, reason})
		} else {
			b.store(candidate)
			b.linkTwin(candidate.ID)
			return false
		}
	}
	if aliased {
		s = b.canonical(s, a)
	}
	old, ok := b.known[s.ID]
	if !ok { // the station of the alias has no row yet
		b.locate(&s)
		b.store(s)
		return false
	}
	merged, refused := mergeStation(old, s)
	b.locate(&merged)
	if merged == old {
		return refused
	}
	b.logChanges(old, merged, s.Source)
	b.store(merged)
	if point(&merged) != point(&old) {
		b.linkTwin(merged.ID)
	}
	return refused
}

// canonical turns the description of an alias into one of its station. The station
// keeps its name, unless the alias exists because of a newer name.
func (b *stationCache) canonical(s schema.Station, a alias) schema.Station {
	s.ID = a.station
	old, ok := b.known[a.station]
	if !ok {
		return s
	}
	s.Kind, s.City, s.State = old.Kind, "", ""
	if a.reason != byNewName {
		s.Name, s.Attribution, s.Licence = old.Name, old.Attribution, old.Licence
	}
	return s
}

func (b *stationCache) store(s schema.Station) {
	b.known[s.ID] = s
	b.changed[s.ID] = true
	if b.index != nil {
		b.index.add(&s)
	}
}

func (b *stationCache) log(c change) { b.changes = append(b.changes, c) }

// logChanges records a changed position or city of a station.
func (b *stationCache) logChanges(old, s schema.Station, source string) {
	if point(&old) != point(&s) {
		reason := "newer position"
		switch {
		case !old.Located():
			reason = "first position"
		case positionRank(s.PositionSource) > positionRank(old.PositionSource):
			reason = "better source"
		}
		b.log(change{s.ID, "position", positionText(&old), positionText(&s), source, reason})
	}
	if old.City != s.City || old.State != s.State {
		reason := "names"
		if s.ByPosition {
			reason = "position"
		}
		b.log(change{s.ID, "city", old.City + "\t" + old.State, s.City + "\t" + s.State, source, reason})
	}
}

func positionText(s *schema.Station) string {
	if !s.Located() {
		return ""
	}
	return fmt.Sprintf("%g,%g", s.Latitude, s.Longitude)
}

// applyRules applies the rules of this version to stations that an older version
// stored. It updates outdated and missing cities, and links duplicates.
func (b *stationCache) applyRules() {
	b.needIndex()
	for _, id := range sortedIDs(b.known) {
		s := b.known[id]
		city, state := gazetteer.Canonical(s.City, s.State)
		if s.City == "" || s.State == "" || city != s.City || state != s.State {
			old := s
			b.locate(&s)
			if s != old {
				b.logChanges(old, s, s.Source)
				b.store(s)
			}
		}
	}
	for _, id := range sortedIDs(b.known) {
		s := b.known[id]
		if s.SameAs != "" {
			continue
		}
		if into, reason, same := b.match(&s); same {
			b.linkStations(id, into, reason)
		} else {
			b.linkTwin(id)
		}
	}
}

// linkStations records that two stations are one physical station. The one with the
// lower [schema.NetworkPriority] refers to the other. With equal priorities, the
// one with the older last reading does.
func (b *stationCache) linkStations(one, other, reason string) {
	s, t := b.known[one], b.known[other]
	if t.SameAs != "" {
		t = b.known[t.SameAs]
	}
	if s.ID == t.ID || t.ID == "" {
		return
	}
	p, q := schema.NetworkPriority(s.Network()), schema.NetworkPriority(t.Network())
	if p > q || p == q && s.LastSeen.After(t.LastSeen) {
		s, t = t, s
	}
	b.log(change{s.ID, "same_as", s.SameAs, t.ID, s.Source, reason})
	for _, x := range b.known { // references to s move to t
		if x.SameAs == s.ID {
			x.SameAs = t.ID
			b.store(x)
		}
	}
	s.SameAs, t.SameAs = t.ID, ""
	b.store(s)
	b.store(t)
}

// linkTwin searches other networks for the same physical station and links the two.
func (b *stationCache) linkTwin(id string) {
	b.needIndex()
	s := b.known[id]
	for _, near := range b.index.near(point(&s)) {
		t := b.known[near]
		if t.ID != s.ID && t.SameAs != s.ID && s.SameAs != t.ID && samePhysicalStation(&s, &t) {
			b.linkStations(s.ID, t.ID, "twin")
			return
		}
	}
}

// match returns the known station that s describes under another id. A name that
// contains an earlier name may match two stations. match links these.
func (b *stationCache) match(s *schema.Station) (into, reason string, same bool) {
	if s.Kind != schema.Reference {
		return "", "", false
	}
	b.needIndex()
	t := parseTitle(s.Name, s.City)
	candidates := slices.Concat(b.index.near(point(s)), b.index.named(s, t.place), b.index.named(s, t.former))
	slices.Sort(candidates)
	for _, id := range slices.Compact(candidates) {
		k := b.known[id]
		if k.ID == s.ID || !mayAlias(s, &k) {
			continue
		}
		why, ok := sameStation(s, &k)
		switch {
		case !ok:
		case !same:
			into, reason, same = id, why, true
		case k.Network() == schema.NetworkOf(into):
			b.linkStations(id, into, why)
		}
	}
	if k := b.known[into]; same && k.SameAs != "" && schema.NetworkOf(k.SameAs) == k.Network() {
		into = k.SameAs
	}
	return into, reason, same && into != s.ID
}

func sortedIDs(known map[string]schema.Station) []string {
	ids := make([]string, 0, len(known))
	for id := range known {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, strings.Compare)
	return ids
}
