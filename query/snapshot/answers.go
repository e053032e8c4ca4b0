package snapshot

import (
	"sync/atomic"

	"vayu/internal/httpapi"
	"vayu/query/places"
)

// renderAnswers renders the answers for all cities with an AQI. An answer that equals the city's previous answer
// keeps its Last-Modified.
func (s *Snapshot) renderAnswers(before *Snapshot) {
	s.details = make([]atomic.Pointer[detailedAnswer], len(s.Cities))
	s.Current = make([]httpapi.Response, len(s.Cities))
	for i := range s.Cities {
		if s.Cities[i].AQI < 0 {
			continue
		}
		record := s.Cities[i].Record(s.Index.Label(i))
		s.Current[i] = httpapi.Ready(append(record.Append(make([]byte, 0, 256)), '}'), s.Built)
		s.Current[i].Measured = int64(s.Cities[i].Updated)
		keepLastModified(&s.Current[i], before, s.Cities[i].City)
	}
}

// keepLastModified copies the Last-Modified of the city's answer in the previous snapshot if both answers are equal.
func keepLastModified(resp *httpapi.Response, before *Snapshot, name places.City) {
	if before == nil {
		return
	}
	i, err := before.Index.Find(name.Name + ", " + name.State)
	if err != nil || before.Index.City(i) != name {
		return
	}
	if old := before.Current[i]; len(old.ETag) == 1 && old.ETag[0] == resp.ETag[0] {
		resp.Changed, resp.Modified = old.Changed, old.Modified
	}
}
