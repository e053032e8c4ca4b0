package air

import "github.com/apache/arrow/go/v15/arrow"

// Indexes of the columns of [ReadingColumns].
const (
	ReadingStation = iota
	ReadingParameter
	ReadingAt
	ReadingValue
	ReadingKind
	ReadingAveraging
	ReadingFlag
	ReadingSource
)

// ReadingColumns is the Arrow schema of a batch of readings. A test compares it with the CREATE statement of the table
// `reading`. `parameter` is the number of a [parameter.Parameter]; the loader writes the parameter's identifier to the
// table. `kind` and `flag` are the numbers of [Kind] and [Flag]. `at` is the end of the averaging interval in UTC
// seconds. `value` is in the parameter's unit, or 0–500 for a sub-index. `averaging` is in minutes.
var ReadingColumns = arrow.NewSchema([]arrow.Field{
	{Name: "station", Type: arrow.BinaryTypes.String},
	{Name: "parameter", Type: arrow.PrimitiveTypes.Uint8},
	{Name: "at", Type: &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}},
	{Name: "value", Type: arrow.PrimitiveTypes.Float64},
	{Name: "kind", Type: arrow.PrimitiveTypes.Int8},
	{Name: "averaging", Type: arrow.PrimitiveTypes.Uint16},
	{Name: "flag", Type: arrow.PrimitiveTypes.Int8},
	{Name: "source", Type: arrow.BinaryTypes.String},
}, nil)
