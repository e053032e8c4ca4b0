package schema

import "encoding/json"

// BatchState is the state of a batch of recharges or verifications.
type BatchState string

// The states of a batch.
const (
	BatchQueued     BatchState = "queued"     // no worker has started it
	BatchProcessing BatchState = "processing" // some records are queued or in progress
	BatchCompleted  BatchState = "completed"  // every record has a final result
	BatchExpired    BatchState = "expired"    // its results are deleted
)

// BatchStates lists every state of a batch.
var BatchStates = []BatchState{BatchQueued, BatchProcessing, BatchCompleted, BatchExpired}

// MaxBatchRecords is the largest number of records in a batch.
const MaxBatchRecords = 10_000

// Accepted is the status in the reply to a request whose work is done later.
const Accepted = "accepted"

// BatchAccepted is the reply to an accepted batch.
type BatchAccepted struct {
	Status     string     `json:"status"` // accepted
	BatchID    string     `json:"batch_id"`
	State      BatchState `json:"state,omitempty"` // only if ResultsURL is not empty
	Total      int        `json:"total"`
	StatusURL  string     `json:"status_url"`            // path of the batch
	ResultsURL string     `json:"results_url,omitempty"` // path of the results; empty if StatusURL serves them
}

// BatchRetention has the URL of a batch's results, and the time at which they are deleted.
type BatchRetention struct {
	ResultsURL string  `json:"results_url,omitempty"`
	ExpiresAt  *string `json:"expires_at"` // null before completion
}

// Batch is a batch in replies. Times are RFC 3339 in UTC.
type Batch struct {
	BatchID    string     `json:"batch_id"`
	RefID      *string    `json:"ref_id"` // null if the client gave none
	State      BatchState `json:"state"`
	Total      int        `json:"total"`
	Successful int        `json:"successful"`
	Failed     int        `json:"failed"`
	Done       int        `json:"done"` // sum of Successful and Failed
	CreatedAt  string     `json:"created_at"`
	FinishedAt *string    `json:"finished_at"` // null before completion

	*BatchRetention // nil if results are kept without limit and have no URL
}

// BatchReply is a reply about one batch.
type BatchReply struct {
	Status string `json:"status"`
	Batch
}

// BatchResults is one page of a batch's results, in the order of the records. Each element
// of Results has the field index, and is a [BatchRecord], a recharge or a verification.
type BatchResults struct {
	Status     string            `json:"status"`
	BatchID    string            `json:"batch_id"`
	State      BatchState        `json:"state"`
	Total      int               `json:"total"`
	Successful int               `json:"successful"`
	Failed     int               `json:"failed"`
	Results    []json.RawMessage `json:"results"`
	HasMore    bool              `json:"has_more"`
	NextCursor *string           `json:"next_cursor"`

	*BatchRetention // as in Batch
}

// BatchRecord is the result of a record that has no recharge or verification, because it is queued or was rejected.
type BatchRecord struct {
	Index  int      `json:"index"`  // position in the batch, from 0
	Status string   `json:"status"` // queued or error
	RefID  string   `json:"ref_id,omitempty"`
	Error  *Problem `json:"error,omitempty"`
}
