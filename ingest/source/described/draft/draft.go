// Package draft drafts the description (YAML) of a network from one reply of its API. A draft consists of guesses, and
// states the evidence of each. The package does no I/O and reads no clock.
package draft

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"vayu/ingest/source/described"
	"vayu/ingest/source/described/draft/note"
	"vayu/ingest/source/described/draft/quantity"
	"vayu/ingest/source/described/draft/sample"
	"vayu/ingest/source/described/record"
)

// Input is a request to an API with its reply, or a file.
type Input struct {
	Name string
	// Address is the requested URL. ${NAME} in it stands for the environment variable NAME.
	Address string
	// Headers are the headers of the request. ${NAME} in a value stands for the environment variable NAME.
	Headers map[string]string
	Body    []byte
	Header  http.Header // of the reply
	Now     time.Time
}

// Draft is a drafted description.
type Draft struct {
	// Text is the YAML file. A comment follows each guess.
	Text    []byte
	Guesses []note.Guess
	// End is the reply with all records removed, or nil if the API has no pages. In the test case, it is the last page.
	End []byte
	// Format means that the description defines only a file format, and sends no requests.
	Format bool
}

// fillIn is written in place of a value that the author must fill in.
const fillIn = described.FillIn

// errNoValues means that a reply has no field that looks like a measured value.
var errNoValues = errors.New("the reply has no records with measured values: no field has the name of a parameter such as pm25 or no2; indices do not count")

// errSeries means that a reply has a list of numbers for each parameter, in place of records.
var errSeries = errors.New("the reply has a list of numbers for each parameter; descriptions need records with one time each, so this network needs a source in Go")

// New drafts a description. It returns an error if it finds no measured values in the reply, or cannot parse the input.
func New(in Input) (*Draft, error) {
	body, err := sample.Decode(in.Body)
	if err != nil {
		return nil, err
	}
	best := bestReading(body, in.Now)
	if best == nil && body.HasSeries(isParameter) {
		return nil, errSeries
	}
	if best == nil {
		return nil, errNoValues
	}
	best.station.fromAddress(in.Address)
	w := &note.Writer{}
	w.Comment("The source %s, drafted by vayu source new at %s.", in.Name, in.Now.UTC().Format(time.RFC3339))
	w.Comment("Each comment has the reason of its line. Check lines with GUESS, and fill in lines with UNKNOWN.")
	w.Comment("The keys: docs/guides/sources.md")
	if body.Table != nil && in.Address == "" {
		writeFormat(w, in, best)
		best.write(w, body.Table)
		return &Draft{Text: w.Text.Bytes(), Guesses: w.Guesses, Format: true}, nil
	}
	writeHead(w, in, best)
	req, err := readRequest(in)
	if err != nil {
		return nil, err
	}
	pages := findPages(body, best, req, in.Header)
	req.write(w)
	writePages(w, pages)
	best.write(w, body.Table)
	d := &Draft{Text: w.Text.Bytes(), Guesses: w.Guesses}
	if pages.by.value != "" {
		d.End, err = best.records.Without(in.Body, pages.next)
	}
	return d, err
}

// isParameter reports whether a name is that of a parameter.
func isParameter(name string) bool {
	_, ok := quantity.Parse(name)
	return ok
}

// writeHead writes the keys about the network and the schedule.
func writeHead(w *note.Writer, in Input, r *reading) {
	host := in.Name
	if u, err := url.Parse(in.Address); err == nil && u.Host != "" {
		host = u.Hostname()
		if IsLocal(host) {
			w.Key("local", "true", note.Found, "%s is not a public address", host)
		}
	}
	writeTerms(w, "readings of "+host)
	schedule, overlap := "12 * * * *", 3*time.Hour
	if d := r.averaging.d; d < time.Hour {
		schedule = "@every 10m"
		if d >= 10*time.Minute {
			schedule = fmt.Sprintf("*/%d * * * *", int(d.Minutes()))
		}
	} else {
		overlap = max(overlap, 3*d)
	}
	w.Key("schedule", schedule, note.Guessed, "the averaging interval is %s", short(r.averaging.d))
	w.Key("overlap", short(overlap), note.Guessed, "how late values arrive is unknown")
}

// writeTerms writes the description's texts about the network.
func writeTerms(w *note.Writer, about string) {
	w.Key("about", about, note.Unknown, "write what the network is")
	w.Key("licence", described.Unset, note.Unknown, "take it from the terms of the network; clients get this text")
	w.Key("attribution", described.Unset, note.Unknown, "whom the network wants to be named")
	w.Gap()
}

// recognised is the number of columns by which a drafted format recognises files: the first columns of the sample.
const recognised = 3

// writeFormat writes the keys of a file format.
func writeFormat(w *note.Writer, in Input, r *reading) {
	writeTerms(w, "files "+in.Name)
	w.Section("recognise", func() {
		w.Key("as", in.Name, note.Guessed, "the name that imports show")
		columns := r.records.Header
		w.List("columns", columns[:min(len(columns), recognised)], note.Guessed, "the first columns; a file with all of them is of this format")
	})
}

// short returns a duration without zero units, such as 1h in place of 1h0m0s.
func short(d time.Duration) string {
	text := d.String()
	text = strings.TrimSuffix(text, "0s")
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	if text == "" {
		return "0s"
	}
	return text
}

// reading is one possible interpretation of the reply: where the records are, and what their fields mean.
type reading struct {
	records   sample.Place
	fields    []*sample.Field
	station   station
	clock     clock
	averaging averaging
	values    values
}

// score rates an interpretation by how many meanings of fields it has found. Without measured values, the score is 0.
func (r *reading) score() int {
	score := min(len(r.values.wide), 6) * 2
	if r.values.long != nil {
		score = 4 + min(len(r.values.long.names), 6)
		if r.values.long.unit != nil {
			score++
		}
	}
	if score == 0 {
		return 0
	}
	if r.clock.field != nil {
		score += 4
	}
	if r.station.id != nil {
		score += 3
	}
	if r.station.latitude != nil {
		score += 2
	}
	if r.records.Count > 1 {
		score += 3
	}
	if r.records.Shape == record.ShapeObject && r.records.At == "@this" {
		score -= 2
	}
	return max(score, 1)
}

// bestReading returns the interpretation with the highest score, or nil if none has measured values.
func bestReading(body sample.Document, now time.Time) *reading {
	var best *reading
	for _, p := range body.Places() {
		if isIndex(p) {
			continue
		}
		r := &reading{records: p, fields: p.Fields()}
		r.values = findValues(r.fields, body)
		r.clock = findClock(r.fields, now)
		r.station = findStation(r.fields, r.clock.field, p)
		if r.station.id == nil {
			r.station.findOutside(body.Outside(p))
		}
		r.averaging = findAveraging(r)
		if r.score() > 0 && (best == nil || r.score() > best.score()) {
			best = r
		}
	}
	if best != nil {
		best.values.tellParticles(best.records.Each)
		best.values.units(best.fields)
	}
	return best
}

// write writes the keys about records, stations, times and values.
func (r *reading) write(w *note.Writer, table *sample.Table) {
	w.Gap()
	writePlace(w, r.records, table)
	r.station.write(w)
	r.clock.write(w, r.averaging)
	w.Key("averaging", short(r.averaging.d), r.averaging.certainty, "%s", r.averaging.evidence)
	r.writeQuality(w)
	w.Gap()
	r.values.write(w)
	r.writeUnused(w)
}

// mostUnused is the largest number of unused fields that a draft lists.
const mostUnused = 20

// writeUnused writes a comment that lists the fields that no key uses, because one of them may be a measured value.
func (r *reading) writeUnused(w *note.Writer) {
	var unused []string
	for _, f := range r.fields {
		used := slices.Contains(unitNames, f.Folded()) || slices.Contains(r.values.also, f.Path) || slices.ContainsFunc(w.Guesses, func(g note.Guess) bool {
			return g.Value == f.Path || strings.HasSuffix(g.Key, "."+f.Path)
		})
		if !used {
			unused = append(unused, f.Path)
		}
	}
	more := ""
	if n := len(unused) - mostUnused; n > 0 {
		unused, more = unused[:mostUnused], fmt.Sprintf(" and %d more", n)
	}
	if len(unused) > 0 {
		w.Comment("Not used, because their names tell nothing of a parameter, station or time: %s%s", strings.Join(unused, ", "), more)
	}
}

// writePlace writes the keys that define where the records are.
func writePlace(w *note.Writer, p sample.Place, table *sample.Table) {
	if table != nil {
		w.Key("format", "csv", note.Found, "%d columns, and a line for each record", len(p.Header))
		if table.Decimal != "" || table.Encoding != "" {
			w.Section("csv", func() { writeTable(w, table) })
		}
		return
	}
	what := map[string]string{
		record.ShapeList: fmt.Sprintf("a list of %d objects", p.Count), record.ShapeTable: fmt.Sprintf("%d rows", p.Count),
		record.ShapeMap: fmt.Sprintf("an object of %d objects", p.Count), record.ShapeObject: "one object",
	}[p.Shape]
	w.Key("records", p.At, note.Found, "%s", what)
	if p.Shape != record.ShapeList {
		w.Key("shape", p.Shape, note.Found, "%s", what)
	}
	if p.Columns != "" {
		w.Key("columns", p.Columns, note.Found, "a list of %d names beside the rows", len(p.Header))
	}
	if p.Each != "" {
		w.Key("each", p.Each, note.Found, "each record has a list of values")
	}
}

// writeTable writes the section `csv`.
func writeTable(w *note.Writer, table *sample.Table) {
	if table.Decimal != "" {
		w.Key("delimiter", table.Delimiter, note.Found, "it gives the most columns")
		w.Key("decimal", table.Decimal, note.Found, "numbers have it")
	}
	if table.Encoding != "" {
		w.Key("encoding", table.Encoding, note.Guessed, "the text is not UTF-8")
	}
}
