package station

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"vayu/query/places"
	"vayu/query/request"
	"vayu/query/snapshot"
)

// InBox returns a page of the cities in the box of a query, sorted by name. It returns their indices in s.Cities, and
// the cursor of the next page; nil if there is none. For current records of the default kinds of stations, it omits
// cities without a record, and cities whose record is too old for the query. The error is a *schema.Problem.
func InBox(s *snapshot.Snapshot, q *request.Query, now time.Time) (cities []int, next *string, err error) {
	var found []int
	one := q.One("") // SetAge checks max_age only for a query about one city
	for i := range s.Cities {
		c := &s.Cities[i]
		if !q.Box.Contains(c.Position) {
			continue
		}
		if q.Current() && q.Kinds == 0 {
			resp := s.Current[i] // a copy, because SetAge changes it
			if resp.Body == nil || one.SetAge(&resp, now) != nil {
				continue
			}
		}
		// A city may be in the snapshot twice, with and without its state. Find returns the entry with the state. The
		// other entry is omitted.
		if same, err := s.Index.Find(s.Index.Label(i)); err == nil && same == i {
			found = append(found, i)
		}
	}
	key := func(n int) string { return s.Index.Label(found[n]) + "\x00" + s.Cities[found[n]].State }
	slices.SortFunc(found, func(a, b int) int {
		if c := strings.Compare(s.Index.Label(a), s.Index.Label(b)); c != 0 {
			return c
		}
		return strings.Compare(s.Cities[a].State, s.Cities[b].State)
	})
	list := fmt.Sprintf("air in %s of %d on %d", q.Paging["bbox"], q.Kinds, q.Day)
	from, to, next, err := PageRange(q.Paging, list, len(found), key)
	if err != nil {
		return nil, nil, err
	}
	return found[from:to], next, nil
}

// latitude is the text with which a position begins in the JSON of a record.
const latitude = `,"latitude":`

// AppendPosition adds the position of a city to the JSON object with which b ends.
func AppendPosition(b []byte, p places.Point) []byte {
	lat, lon := places.Degrees(p)
	b = strconv.AppendFloat(append(b[:len(b)-1], latitude...), *lat, 'f', -1, 64)
	return append(strconv.AppendFloat(append(b, `,"longitude":`...), *lon, 'f', -1, 64), '}')
}

// Positions returns the number of positions that AppendPosition has added to the records in body. It counts the fields
// `latitude`, so the records must have no such field of their own.
func Positions(body []byte) int { return bytes.Count(body, []byte(latitude)) }
