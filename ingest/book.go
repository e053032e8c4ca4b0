package ingest

import (
	"fmt"
	"slices"
	"strings"

	"vayu/schema"
	"vayu/schema/gazetteer"
)

// book is the loader's memory of the stations and of their aliases, and what has
// changed in it since it was last stored.
type book struct {
	known   map[string]schema.Station
	aliases map[string]alias
	located map[string]located // by id; outlives the book
	index   *stationIndex      // nil until it is needed

	changed map[string]bool // ids whose row is to be stored
	found   []alias
	changes []change
}

// alias says that the readings of one id are stored under another.
type alias struct{ alias, station, reason, actor string }

// change is a row of station_change.
type change struct{ station, field, before, after, source, reason string }

// ingestActor is who decides about automatic aliases.
const ingestActor = "ingest"

func newBook(known map[string]located) *book {
	if known == nil {
		known = make(map[string]located)
	}
	return &book{known: make(map[string]schema.Station), aliases: make(map[string]alias), located: known, changed: make(map[string]bool)}
}

// describe takes in one description. refused says that its position was refused.
func (b *book) describe(s schema.Station) (refused bool) {
	a, aliased := b.aliases[s.ID]
	_, ok := b.known[s.ID]
	if !ok && !aliased {
		candidate := s
		b.locate(&candidate)
		if into, reason, same := b.match(&candidate); same {
			a, aliased = alias{s.ID, into, reason, ingestActor}, true
			b.aliases[s.ID] = a
			b.found = append(b.found, a)
			b.log(change{into, "alias", "", s.ID, s.Source, reason})
		} else {
			b.store(candidate)
			b.pair(candidate.ID)
			return false
		}
	}
	if aliased {
		s = b.canonical(s, a)
	}
	old, ok := b.known[s.ID]
	if !ok { // the station of an alias that has no row yet
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
		b.pair(merged.ID)
	}
	return refused
}

// canonical turns the description of an alias into one of its station. It keeps
// what the station is called, unless the alias is the station's newer name.
func (b *book) canonical(s schema.Station, a alias) schema.Station {
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

func (b *book) store(s schema.Station) {
	b.known[s.ID] = s
	b.changed[s.ID] = true
	if b.index != nil {
		b.index.add(&s)
	}
}

func (b *book) log(c change) { b.changes = append(b.changes, c) }

// logChanges logs what places a station anew.
func (b *book) logChanges(old, s schema.Station, source string) {
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

// mend applies the present rules to stations that were stored under older ones. It
// looks only at those that the rules can change: a station without a city or with
// a name that has become another, and several stations that are one.
func (b *book) mend() {
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
			b.join(id, into, reason)
		} else {
			b.pair(id)
		}
	}
}

// join notes that two stations are one physical station: the one of the lower
// priority, and of two equal ones the one that was heard of less recently, refers
// to the other.
func (b *book) join(one, other, reason string) {
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
	for _, x := range b.known { // what referred to s refers to t
		if x.SameAs == s.ID {
			x.SameAs = t.ID
			b.store(x)
		}
	}
	s.SameAs, t.SameAs = t.ID, ""
	b.store(s)
	b.store(t)
}

// pair looks for the station of another network that is the same physical one.
func (b *book) pair(id string) {
	b.needIndex()
	s := b.known[id]
	for _, near := range b.index.near(point(&s)) {
		t := b.known[near]
		if t.ID != s.ID && t.SameAs != s.ID && s.SameAs != t.ID && twins(&s, &t) {
			b.join(s.ID, t.ID, "twin")
			return
		}
	}
}

// match returns the known station that a description is of, if it has another id.
// A name with an earlier one in it may match two stations, which then are one.
func (b *book) match(s *schema.Station) (into, reason string, same bool) {
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
			b.join(id, into, why)
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
