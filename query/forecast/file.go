package forecast

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"vayu/internal/atomicfile"
	"vayu/schema"
	"vayu/schema/air"
)

// fileVersion must change whenever the fields of the file change. Files with another version are ignored.
const fileVersion = 3

// savedIssue is the content of the file of an issue, as JSON.
type savedIssue struct {
	Version            int
	Base               schema.Day
	IssuedAt, FittedAt time.Time
	Overall            air.ForecastScores
	Places             []savedPlace
	Hours              *savedHours // nil for none
}

// savedHours has the hourly forecasts of all places in a file.
type savedHours struct {
	Base, IssuedAt, FittedAt time.Time
	Places                   []savedPlaceHours
}

type savedPlaceHours struct {
	Kind, Name, State string
	Of                *placeHours
}

// savedPlace has the forecasts of a place in a file.
type savedPlace struct {
	Kind, Name, State string
	Days              []air.ForecastDay
	Score             *air.ForecastScore
	Verified          air.ForecastScores
	Reasons           []map[string]string
	Reason            string
	IssuedAt          time.Time
}

func (p *Place) saved(kind, name, state string) savedPlace {
	return savedPlace{Kind: kind, Name: name, State: state, Days: p.days, Score: p.score, Verified: p.verified, Reasons: p.reasons, Reason: p.reason, IssuedAt: p.issuedAt}
}

func (h *Hours) saved() *savedHours {
	if h == nil {
		return nil
	}
	s := &savedHours{Base: h.Base, IssuedAt: h.IssuedAt, FittedAt: h.FittedAt}
	for c, p := range h.cities {
		s.Places = append(s.Places, savedPlaceHours{"city", c.Name, c.State, p})
	}
	for id, p := range h.stations {
		s.Places = append(s.Places, savedPlaceHours{"station", id, "", p})
	}
	return s
}

func (s *savedHours) restored() *Hours {
	if s == nil {
		return nil
	}
	h := newHours(s.Base, s.IssuedAt, s.FittedAt)
	for _, p := range s.Places {
		*h.place(p.Kind, p.Name, p.State) = *p.Of
	}
	return h
}

// write replaces the file at `path` by one with the issue and, unless nil, with `hours`. A reader sees either the
// earlier file or the complete new one.
func (i *Issue) write(path string, hours *Hours) error {
	s := savedIssue{Version: fileVersion, Base: i.Base, IssuedAt: i.IssuedAt, FittedAt: i.FittedAt, Overall: i.overall, Hours: hours.saved()}
	for c, p := range i.cities {
		s.Places = append(s.Places, p.saved("city", c.Name, c.State))
	}
	for id, p := range i.stations {
		s.Places = append(s.Places, p.saved("station", id, ""))
	}
	err := os.MkdirAll(filepath.Dir(path), 0o750)
	if err == nil {
		err = atomicfile.Write(path, func(file *os.File) error { return json.NewEncoder(file).Encode(s) })
	}
	if err != nil {
		return fmt.Errorf("writing the forecasts %q: %w", path, err)
	}
	return nil
}

// read returns the forecasts of days and of hours in a file. It returns nil if there is no file, or one of another version.
func read(path string) (*Issue, *Hours, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	var s savedIssue
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading the forecasts %q: %w", path, err)
	}
	if s.Version != fileVersion {
		return nil, nil, nil
	}
	i := newIssue(s.Base, s.IssuedAt, s.FittedAt)
	i.overall = s.Overall
	for n := range s.Places {
		from := &s.Places[n]
		p := i.place(from.Kind, from.Name, from.State)
		p.days, p.score, p.verified, p.reasons, p.reason, p.issuedAt = from.Days, from.Score, from.Verified, from.Reasons, from.Reason, from.IssuedAt
	}
	return i, s.Hours.restored(), nil
}
