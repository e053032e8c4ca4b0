package quality

// Flag is the result of one test of a reading, or the worst result of all tests.
// The numbers are those of QARTOD (ioos_qc 9c1853a, QartodFlags), the standard for
// real-time ocean data. The column reading_quality.flag has the same numbers.
type Flag uint8

// These are the flags. The table reading_quality has no rows for good results.
const (
	// Good is the flag of a reading that passed the test.
	Good Flag = 1
	// NotEvaluated means that the test had no input to compare with, such as an
	// earlier reading.
	NotEvaluated Flag = 2
	// Suspect is the flag of an unlikely but possible value. The reading counts in the index, unless [Settings.Exclude]
	// names the test.
	Suspect Flag = 3
	// Fail is the flag of an impossible value or time. The reading does not count in the index.
	Fail Flag = 4
	// Missing marks an averaging interval without a reading.
	Missing Flag = 9
)

// String returns the name of the flag in the Enum8 column of ClickHouse.
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
