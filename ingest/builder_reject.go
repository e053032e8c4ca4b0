package ingest

import "strconv"

// Reject counts a value, line or position that the source rejected.
func (b *Builder) Reject(reason Reason) { b.RejectField(reason, "") }

// RejectField counts a value that the source rejected. For each reason it also keeps the first [MaxKept] values with
// their records, except for missing values. `field` is the name of the field or column, or "" for the whole record.
func (b *Builder) RejectField(reason Reason, field string) { b.reject(reason, field, "") }

func (b *Builder) reject(reason Reason, field, station string) {
	b.batch.Rejected.Add(reason, 1)
	if b.record == nil || reason == MissingValue || b.kept[reason] == MaxKept {
		return
	}
	if line, raw := b.record(); raw != "" {
		b.keep(RejectedValue{Reason: reason, Field: field, Station: station, Line: line, Raw: raw})
	}
}

// RejectPosition counts a position as [BadPosition]. The kept text begins with latitude and longitude, because the
// record itself need not contain them. `station` is the id of the station, or "" if it is unknown.
func (b *Builder) RejectPosition(station, latitude, longitude string) {
	b.batch.Rejected.Add(BadPosition, 1)
	if b.record == nil || b.kept[BadPosition] == MaxKept {
		return
	}
	line, record := b.record()
	text := "latitude " + latitude + ", longitude " + longitude
	if record != "" {
		text += ": " + record
	}
	b.keep(RejectedValue{Reason: BadPosition, Field: "position", Station: station, Line: line, Raw: text})
}

func formatDegrees(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func (b *Builder) keep(v RejectedValue) {
	v.Raw = CutRaw(v.Raw)
	b.kept.Add(v.Reason, 1)
	b.batch.Values = append(b.batch.Values, v)
}

// Describe sets the function that describes the current record of the source for [Batch.Values]. The function returns
// the record's number or line from 1, and its raw text, which the builder copies. If there is no current record, the
// text is "". Without Describe the builder only counts rejections.
func (b *Builder) Describe(record func() (line int64, raw string)) { b.record = record }
