package quality

// Flag is the result of a test and the verdict on a reading, numbered as in
// QARTOD (ioos_qc 9c1853a, QartodFlags) and in column reading_quality.flag.
type Flag uint8

// The flags. Good results are not stored.
const (
	// Good passed the test.
	Good Flag = 1
	// NotEvaluated lacks what the test needs, such as a reading before it.
	NotEvaluated Flag = 2
	// Suspect is unlikely and may be true. It counts in the index.
	Suspect Flag = 3
	// Fail cannot be true and is left out of the index.
	Fail Flag = 4
	// Missing marks an averaging interval without a reading.
	Missing Flag = 9
)

// String returns the identifier of the Enum8 column in ClickHouse.
func (f Flag) String() string {
	switch f {
	case Good:
		return "good"
	case NotEvaluated:
		return "not_evaluated"
	case Suspect:
		return "suspect"
	case Fail:
		return "fail"
	case Missing:
		return "missing"
	}
	return "none"
}
