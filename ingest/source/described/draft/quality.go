package draft

import (
	"fmt"
	"slices"
	"strings"

	"vayu/ingest/source/described/draft/note"
	"vayu/ingest/source/described/draft/sample"
	"vayu/ingest/source/described/record"
)

// qualityNames are names of fields that state the quality of readings. badWords are parts of values that mark unusable
// readings in these fields. goodWords are whole values that mark usable readings.
var (
	qualityNames = []string{"status", "flag", "flags", "qc", "qcflag", "qcstatus", "quality", "qualityflag", "valid", "isvalid", "validity", "state", "datastatus", "offline", "online", "health"}
	badWords     = []string{"invalid", "calib", "fault", "fail", "error", "mainten", "zero", "span", "offline", "suspect", "bad", "malfunction", "warm"}
	goodWords    = []string{"ok", "valid", "good", "normal"}
)

const mostMarks = 12

// marks reports whether a field probably states the quality of readings: by its name, or by a value in goodWords. It
// returns false for more than mostMarks distinct values, for a station's id or state, and for a reply of one object.
func (r *reading) marks(f *sample.Field) bool {
	if len(f.Texts) > mostMarks || f == r.station.state || f == r.station.id || r.records.Shape == record.ShapeObject {
		return false
	}
	return slices.Contains(qualityNames, f.Folded()) || len(f.Texts) > 1 && slices.ContainsFunc(f.Texts, func(text string) bool {
		return slices.Contains(goodWords, strings.ToLower(text))
	})
}

// writeQuality writes the section `quality` for the first field whose values mark unusable readings. It writes a
// comment for each quality field before that one.
func (r *reading) writeQuality(w *note.Writer) {
	for _, f := range r.fields {
		if !r.marks(f) {
			continue
		}
		var bad, counts []string
		for _, text := range f.Texts {
			n := 0
			for _, one := range f.All {
				if one == text {
					n++
				}
			}
			counts = append(counts, fmt.Sprintf("%s (%d)", text, n))
			lower := strings.ToLower(text)
			if slices.ContainsFunc(badWords, func(word string) bool { return strings.Contains(lower, word) }) ||
				strings.Contains(f.Folded(), "valid") && lower == "false" || f.Folded() == "offline" && lower == "true" {
				bad = append(bad, text)
			}
		}
		if len(bad) == 0 {
			values := strings.Join(counts, ", ")
			w.Missing("quality."+f.Path, "values "+values, fmt.Sprintf("the field %s may mark unusable readings: %s. See the key quality.", f.Path, values))
			continue
		}
		w.Section("quality", func() {
			w.Section(f.Path, func() {
				w.List("reject", bad, note.Guessed, "values %s; other values may also mark unusable readings", strings.Join(counts, ", "))
			})
		})
		return
	}
}
