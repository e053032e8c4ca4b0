package station

import (
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"time"

	"vayu/schema/air"
	"vayu/schema/gazetteer"
)

// Cache has the stations and aliases in memory, and the changes that are not stored yet.
type Cache struct {
	Known      map[string]air.Station // LastSeen may be later than in the stored row, see seenInterval
	Aliases    map[string]Alias
	Placements map[string]Placement // by id of the station; the next cache reuses them
	index      *stationIndex        // built on first use

	Changed    map[string]bool // ids whose row must be stored
	NewAliases []Alias
	Changes    []Change
}

// Alias is an id whose readings are stored under the id Station.
type Alias struct{ Alias, Station, Reason, Actor string }

// Change is a row of the table `station_change`.
type Change struct{ Station, Field, Before, After, Source, Reason string }

// ingestActor is the actor of aliases that this package creates.
const ingestActor = "ingest"

// NewCache returns an empty cache. `known` has the placements of the previous cache, or is nil. The new cache need not
// compute these placements again.
func NewCache(known map[string]Placement) *Cache {
	if known == nil {
		known = make(map[string]Placement)
	}
	return &Cache{
		Known: make(map[string]air.Station), Aliases: make(map[string]Alias),
		Placements: known, Changed: make(map[string]bool),
	}
}

// Describe merges a source's description of a station into the known station. An unknown station becomes an alias of a
// station that it matches, or else a known station. `refused` is true if the described position is too far from the
// known position, and its source ranks no higher (see positionRank). The known position then stays.
func (b *Cache) Describe(s air.Station) (refused bool) {
	a, aliased := b.Aliases[s.ID]
	_, ok := b.Known[s.ID]
	if !ok && !aliased {
		candidate := s
		b.locate(&candidate)
		if into, reason, same := b.match(&candidate); same {
			a, aliased = Alias{s.ID, into, reason, ingestActor}, true
			b.Aliases[s.ID] = a
			b.NewAliases = append(b.NewAliases, a)
			b.Log(Change{into, "alias", "", s.ID, s.Source, reason})
		} else {
			b.Store(candidate)
			b.linkTwin(candidate.ID)
			return false
		}
	}
	if aliased {
		s = b.canonical(s, a)
	}
	old, ok := b.Known[s.ID]
	if !ok { // the station of the alias has no row yet
		b.locate(&s)
		b.Store(s)
		return false
	}
	merged, refused := mergeStation(old, s)
	b.locate(&merged)
	if onlySeen(old, merged) {
		b.Known[merged.ID] = merged
		return refused
	}
	b.logChanges(old, merged, s.Source)
	b.Store(merged)
	if point(&merged) != point(&old) {
		b.linkTwin(merged.ID)
	}
	return refused
}

// If only LastSeen of a station has changed, its row is written at most once in each seenInterval. A sensor has a
// reading each minute, and a network can have a million sensors, so a row for each reading would be too much.
const seenInterval = time.Hour

// KeepSeen updates each LastSeen in b if the earlier cache has a later time. The stored times, which b has, may lag.
func (b *Cache) KeepSeen(earlier *Cache) {
	for id, s := range b.Known {
		if was, ok := earlier.Known[id]; ok && was.LastSeen.After(s.LastSeen) {
			s.LastSeen = was.LastSeen
			b.Known[id] = s
		}
	}
}

// onlySeen reports whether `merged` need not be stored: only LastSeen may differ from `old`, and both times must be in
// the same interval of length seenInterval. The intervals begin at a different time for each station, so that a
// network does not write all its rows at once.
func onlySeen(old, merged air.Station) bool {
	h := fnv.New32a()
	_, _ = io.WriteString(h, merged.ID)
	shift := int64(h.Sum32()) % int64(seenInterval/time.Second)
	interval := func(at time.Time) int64 { return (at.Unix() + shift) / int64(seenInterval/time.Second) }
	same := interval(old.LastSeen) == interval(merged.LastSeen)
	old.LastSeen = merged.LastSeen
	return same && merged == old
}

// canonical converts the description of an alias to a description of its station. The station keeps its own kind. It
// also keeps its name, attribution and licence, unless the alias has the newer name of a renamed station (byNewName).
func (b *Cache) canonical(s air.Station, a Alias) air.Station {
	s.ID = a.Station
	old, ok := b.Known[a.Station]
	if !ok {
		return s
	}
	s.Kind, s.City, s.State = old.Kind, "", ""
	if a.Reason != byNewName {
		s.Name, s.Attribution, s.Licence = old.Name, old.Attribution, old.Licence
	}
	return s
}

// Store replaces a station in the cache, and marks it as changed.
func (b *Cache) Store(s air.Station) {
	b.Known[s.ID] = s
	b.Changed[s.ID] = true
	if b.index != nil {
		b.index.add(&s)
	}
}

// Log adds a change of a station to the changes that are not stored yet.
func (b *Cache) Log(c Change) { b.Changes = append(b.Changes, c) }

// logChanges logs a changed position or city of a station.
func (b *Cache) logChanges(old, s air.Station, source string) {
	if point(&old) != point(&s) {
		reason := "newer position"
		switch {
		case !old.Located():
			reason = "first position"
		case positionRank(s.PositionSource) > positionRank(old.PositionSource):
			reason = "better source"
		}
		b.Log(Change{s.ID, "position", positionText(&old), positionText(&s), source, reason})
	}
	if old.City != s.City || old.State != s.State {
		reason := "names"
		if s.ByPosition {
			reason = "position"
		}
		b.Log(Change{s.ID, "city", old.City + "\t" + old.State, s.City + "\t" + s.State, source, reason})
	}
}

func positionText(s *air.Station) string {
	if !s.Located() {
		return ""
	}
	return fmt.Sprintf("%g,%g", s.Latitude, s.Longitude)
}

// ApplyRules applies the present rules to stations that an older version of the program stored. It updates outdated
// cities, adds missing ones, and links duplicate stations.
func (b *Cache) ApplyRules() {
	b.needIndex()
	for _, id := range sortedIDs(b.Known) {
		s := b.Known[id]
		city, state := gazetteer.Canonical(s.City, s.State)
		if s.City == "" || s.State == "" || city != s.City || state != s.State {
			old := s
			b.locate(&s)
			if s != old {
				b.logChanges(old, s, s.Source)
				b.Store(s)
			}
		}
	}
	for _, id := range sortedIDs(b.Known) {
		s := b.Known[id]
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

// linkStations records that two stations are one physical station. It sets SameAs of the station with the lower
// [air.NetworkPriority] to the id of the other station. At equal priorities, it sets SameAs of the station whose last
// reading is older.
func (b *Cache) linkStations(one, other, reason string) {
	s, t := b.Known[one], b.Known[other]
	if t.SameAs != "" {
		t = b.Known[t.SameAs]
	}
	if s.ID == t.ID || t.ID == "" {
		return
	}
	p, q := air.NetworkPriority(s.Network()), air.NetworkPriority(t.Network())
	if p > q || p == q && s.LastSeen.After(t.LastSeen) {
		s, t = t, s
	}
	b.Log(Change{s.ID, "same_as", s.SameAs, t.ID, s.Source, reason})
	for _, x := range b.Known { // stations that refer to s now refer to t
		if x.SameAs == s.ID {
			x.SameAs = t.ID
			b.Store(x)
		}
	}
	s.SameAs, t.SameAs = t.ID, ""
	b.Store(s)
	b.Store(t)
}

// linkTwin searches other networks for the same physical station, and links the two if it finds one.
func (b *Cache) linkTwin(id string) {
	b.needIndex()
	s := b.Known[id]
	for _, near := range b.index.near(point(&s)) {
		t := b.Known[near]
		if t.ID != s.ID && t.SameAs != s.ID && s.SameAs != t.ID && samePhysicalStation(&s, &t) {
			b.linkStations(s.ID, t.ID, "twin")
			return
		}
	}
}

// match returns the known station that the reference station s describes under another id. If s matches two known
// stations of one network (by its present and its former name, for example), match links them to each other.
func (b *Cache) match(s *air.Station) (into, reason string, same bool) {
	if s.Kind != air.Reference {
		return "", "", false
	}
	b.needIndex()
	t := parseTitle(s.Name, s.City)
	candidates := slices.Concat(b.index.near(point(s)), b.index.named(s, t.place), b.index.named(s, t.former))
	slices.Sort(candidates)
	for _, id := range slices.Compact(candidates) {
		k := b.Known[id]
		if k.ID == s.ID || !mayAlias(s, &k) {
			continue
		}
		why, ok := sameStation(s, &k)
		switch {
		case !ok:
		case !same:
			into, reason, same = id, why, true
		case k.Network() == air.NetworkOf(into):
			b.linkStations(id, into, why)
		}
	}
	if k := b.Known[into]; same && k.SameAs != "" && air.NetworkOf(k.SameAs) == k.Network() {
		into = k.SameAs
	}
	return into, reason, same && into != s.ID
}

func sortedIDs(known map[string]air.Station) []string {
	ids := make([]string, 0, len(known))
	for id := range known {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, strings.Compare)
	return ids
}
