package preview

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"vayu/ingest"
	"vayu/ingest/runner"
)

// Sample writes the readings, bulletins, stations and rejected values of a sample as text.
func Sample(w io.Writer, s runner.Sample) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(s.Readings) > 0 {
		_, _ = fmt.Fprintln(out, "STATION\tPOLLUTANT\tEND (UTC)\tVALUE\tUNIT\tKIND\tMINUTES\tFLAG")
	}
	for _, r := range s.Readings {
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%v\t%s\t%s\t%d\t%s\n", r.Station, r.Parameter.Name(),
			r.At.UTC().Format("2006-01-02 15:04"), r.Value, unitOf(r), r.Kind, r.Averaging, r.Flag)
	}
	if len(s.Bulletins) > 0 {
		_, _ = fmt.Fprintln(out, "DAY\tCITY\tSTATE\tAQI\tCATEGORY\tPROMINENT\tSTATIONS")
	}
	for _, b := range s.Bulletins {
		one := bulletinOf(b)
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%d\t%s\t%s\t%d of %d\n", one.Day, one.City, one.State, one.AQI, one.Category,
			strings.Join(one.Prominent, ", "), one.StationsUsed, one.StationsTotal)
	}
	showStations(out, s)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the readings: %w", err)
	}
	what := fmt.Sprintf("readings of %d stations", len(s.Stations))
	if len(s.Bulletins) > 0 {
		what = "indices of bulletins"
	}
	_, err := fmt.Fprintf(w, "%d %s%s\n", s.Count, what, age(s.Newest, time.Now()))
	Rejections(w, s.Rejected)
	showValues(w, s.Values)
	return err
}

// shownStations is the largest number of stations in the text of a sample.
const shownStations = 20

// showStations writes the first stations as a table.
func showStations(out io.Writer, s runner.Sample) {
	if len(s.Stations) == 0 {
		return
	}
	_, _ = fmt.Fprintln(out, "STATION\tNAME\tCITY\tSTATE\tLATITUDE\tLONGITUDE\tKIND")
	for i := range s.Stations[:min(len(s.Stations), shownStations)] {
		one := &s.Stations[i]
		latitude, longitude := "unknown", "unknown"
		if one.Located() {
			latitude, longitude = fmt.Sprint(one.Latitude), fmt.Sprint(one.Longitude)
		}
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", one.ID, oneLine(one.Name), oneLine(one.City), oneLine(one.State), latitude, longitude, one.Kind)
	}
	if more := len(s.Stations) - shownStations; more > 0 {
		_, _ = fmt.Fprintf(out, "… and %d stations more\n", more)
	}
}

// age returns a text about the age of the newest reading. A user can thus notice that a source has only old readings.
func age(newest, now time.Time) string {
	if newest.IsZero() {
		return ""
	}
	return fmt.Sprintf(", the newest of %s UTC (%s ago)", newest.UTC().Format("2006-01-02 15:04"), now.Sub(newest).Round(time.Minute))
}

// shownValues is the largest number of rejected values of each reason in the output of `source test` and `source
// preview`.
const shownValues = 3

// showValues writes the first rejected values of each reason.
func showValues(w io.Writer, values []ingest.RejectedValue) {
	shown := make(ingest.Rejections)
	for _, v := range values {
		if shown[v.Reason] == shownValues {
			continue
		}
		shown.Add(v.Reason, 1)
		_, _ = fmt.Fprintf(w, "%s, record %d, %s: %s\n", v.Reason, v.Line, cmp.Or(v.Field, "whole record"), oneLine(v.Raw))
	}
}

// oneLine puts a text that comes from a remote API on one line, without control characters.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) }), " ")
}

// retained returns a note for a retained MQTT message: the broker stored it before the subscription.
func retained(m *ingest.MessageInfo) string {
	if m.Retained {
		return ", retained"
	}
	return ""
}

// Exchanges writes the recorded requests with the beginnings of their replies, and the recorded messages.
func Exchanges(w io.Writer, recorder *ingest.Recorder) {
	all := recorder.Exchanges()
	for _, e := range all {
		if m := e.Message; m != nil {
			_, _ = fmt.Fprintf(w, "%s\n  received at %s, %d bytes%s\n", oneLine(e.Request), m.At.UTC().Format(time.RFC3339), e.Bytes, retained(m))
		} else {
			_, _ = fmt.Fprintf(w, "%s\n  status %d, %d bytes, %s\n", e.Request, e.Status, e.Bytes, e.Elapsed.Round(time.Millisecond))
		}
		if e.Error != "" {
			_, _ = fmt.Fprintf(w, "  error: %s\n", oneLine(e.Error))
		}
		if e.Body != "" {
			_, _ = fmt.Fprintf(w, "  %s\n", oneLine(e.Body))
		}
	}
	if more := recorder.Received().Requests - len(all); more > 0 {
		_, _ = fmt.Fprintf(w, "… and %d requests more\n", more)
	}
	if len(all) > 0 {
		_, _ = fmt.Fprintln(w)
	}
}

// Rejections writes the number of rejected values for each reason: the largest number first, equal numbers by reason.
func Rejections(w io.Writer, rejected ingest.Rejections) {
	reasons := slices.SortedFunc(maps.Keys(rejected), func(a, b ingest.Reason) int {
		return cmp.Or(cmp.Compare(rejected[b], rejected[a]), cmp.Compare(a, b))
	})
	for _, reason := range reasons {
		_, _ = fmt.Fprintf(w, "%9d rejected: %s\n", rejected[reason], reason)
	}
}

// Absent writes a warning for each path of a source description (YAML) at which no record has a field.
func Absent(w io.Writer, absent []ingest.Path) {
	for _, one := range absent {
		_, _ = fmt.Fprintf(w, "warning: %s\n", oneLine(one.String()))
	}
}
