package quality

// Flag is the result of one test, and the worst result of a reading. Its numbers
// are those of QARTOD, the standard for real-time ocean data (ioos_qc 9c1853a,
// QartodFlags), and of column reading_quality.flag.
type Flag uint8

// The flags. Good results are not stored.
const (
	// Good is the flag of a reading that passed the test.
	Good Flag = 1
	// NotEvaluated means that the test lacked input, such as an earlier reading.
	NotEvaluated Flag = 2
	// Suspect is for an unlikely but possible value. It counts in the index.
	Suspect Flag = 3
	// Fail is for an impossible value. The index excludes it.
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
