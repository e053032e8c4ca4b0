package schema

import (
	"cmp"
	"slices"
)

// Code is an error code of the API. The codes and their HTTP statuses are part of the contract, so a code is never
// renamed.
type Code string

// The error codes of replies.
const (
	InvalidJSON           Code = "invalid_json"
	InvalidRequest        Code = "invalid_request"
	ConflictingParameters Code = "conflicting_parameters"
	TooManyLocations      Code = "too_many_locations"
	AmbiguousLocation     Code = "ambiguous_location"
	UnknownVersion        Code = "unknown_version"
	Unauthorized          Code = "unauthorized"
	KeyRevoked            Code = "key_revoked"
	KeyExpired            Code = "key_expired"
	SignatureRequired     Code = "signature_required"
	SignatureInvalid      Code = "signature_invalid"
	InsufficientBalance   Code = "insufficient_balance"
	Forbidden             Code = "forbidden"
	InsufficientScope     Code = "insufficient_scope"
	IPNotAllowed          Code = "ip_not_allowed"
	NotFound              Code = "not_found"
	LocationNotFound      Code = "location_not_found"
	NoData                Code = "no_data"
	NoStationNearby       Code = "no_station_nearby"
	NoCurrentData         Code = "no_current_data"
	MethodNotAllowed      Code = "method_not_allowed"
	NotAcceptable         Code = "not_acceptable"
	DuplicateRefID        Code = "duplicate_ref_id"
	IdempotencyConflict   Code = "idempotency_conflict"
	TooManyKeys           Code = "too_many_keys"
	Conflict              Code = "conflict"
	ResultsExpired        Code = "results_expired"
	PreconditionFailed    Code = "precondition_failed"
	PayloadTooLarge       Code = "payload_too_large"
	UnsupportedMediaType  Code = "unsupported_media_type"
	RangeNotSatisfiable   Code = "range_not_satisfiable"
	InvalidNumber         Code = "invalid_number"
	OperatorNotDetected   Code = "operator_not_detected"
	UnknownOperator       Code = "unknown_operator"
	UnsupportedType       Code = "unsupported_type"
	InvalidAmount         Code = "invalid_amount"
	AmountNotSupported    Code = "amount_not_supported"
	InvalidIFSC           Code = "invalid_ifsc"
	InvalidAccountNumber  Code = "invalid_account_number"
	InvalidVPA            Code = "invalid_vpa"
	UnknownEventType      Code = "unknown_event_type"
	InvalidWebhookURL     Code = "invalid_webhook_url"
	URLNotAllowed         Code = "url_not_allowed"
	InvalidAlert          Code = "invalid_alert"
	QuotaExceeded         Code = "quota_exceeded"
	RateLimited           Code = "rate_limited"
	InternalError         Code = "internal_error"
	OperatorNetworkError  Code = "operator_network_error"
	BankNetworkError      Code = "bank_network_error"
	OperatorUnavailable   Code = "operator_unavailable"
	ServiceUnavailable    Code = "service_unavailable"
	BankTimeout           Code = "bank_timeout"
)

// Error codes of a failed verification. The HTTP status of the reply is 200, because the verification itself was
// completed.
const (
	AccountNotFound Code = "account_not_found"
	VPANotFound     Code = "vpa_not_found"
)

// CodeStatus maps each error code of replies to its HTTP status. It does not have the codes of a failed verification.
var CodeStatus = map[Code]int{
	InvalidJSON:           400,
	InvalidRequest:        400,
	ConflictingParameters: 400,
	TooManyLocations:      400,
	AmbiguousLocation:     400,
	UnknownVersion:        400,
	Unauthorized:          401,
	KeyRevoked:            401,
	KeyExpired:            401,
	SignatureRequired:     401,
	SignatureInvalid:      401,
	InsufficientBalance:   402,
	Forbidden:             403,
	InsufficientScope:     403,
	IPNotAllowed:          403,
	NotFound:              404,
	LocationNotFound:      404,
	NoData:                404,
	NoStationNearby:       404,
	NoCurrentData:         404,
	MethodNotAllowed:      405,
	NotAcceptable:         406,
	DuplicateRefID:        409,
	IdempotencyConflict:   409,
	TooManyKeys:           409,
	Conflict:              409,
	ResultsExpired:        410,
	PreconditionFailed:    412,
	PayloadTooLarge:       413,
	UnsupportedMediaType:  415,
	RangeNotSatisfiable:   416,
	InvalidNumber:         422,
	OperatorNotDetected:   422,
	UnknownOperator:       422,
	UnsupportedType:       422,
	InvalidAmount:         422,
	AmountNotSupported:    422,
	InvalidIFSC:           422,
	InvalidAccountNumber:  422,
	InvalidVPA:            422,
	UnknownEventType:      422,
	InvalidWebhookURL:     422,
	URLNotAllowed:         422,
	InvalidAlert:          422,
	QuotaExceeded:         429,
	RateLimited:           429,
	InternalError:         500,
	OperatorNetworkError:  502,
	BankNetworkError:      502,
	OperatorUnavailable:   503,
	ServiceUnavailable:    503,
	BankTimeout:           504,
}

// Status returns the HTTP status of an error code. It returns 500 for a code that is not in CodeStatus.
func (c Code) Status() int {
	if status, ok := CodeStatus[c]; ok {
		return status
	}
	return 500
}

// Problem is the `error` object of a reply. It is also a Go error: handlers return it, and the API encodes it. Message
// is for the client and must not contain stacks, SQL or texts of other systems. Suggestions belongs to
// location_not_found, Candidates to ambiguous_location, and Nearest to no_station_nearby and no_data. Allow is the
// header Allow of method_not_allowed. RetryAfter is the header Retry-After in seconds, or 0 if there is none. Status
// is the HTTP status if it differs from that of Code, and otherwise 0.
type Problem struct {
	Code        Code            `json:"code"`
	Message     string          `json:"message"`
	Field       string          `json:"field,omitempty"`
	Details     []ProblemDetail `json:"details,omitempty"`
	Suggestions []string        `json:"suggestions,omitempty"`
	Candidates  []string        `json:"candidates,omitempty"`
	DistanceKM  *Figure         `json:"distance_km,omitempty"`
	Nearest     *NearestStation `json:"nearest,omitempty"`
	RequestID   string          `json:"request_id,omitempty"`
	Retryable   bool            `json:"retryable"`
	Allow       string          `json:"-"`
	RetryAfter  int             `json:"-"`
	Status      int             `json:"-"`
}

// NearestStation is a station near a place or in a city without data, with the reason why an answer does not use the
// station. DistanceKM is null if the position of the station or of the city is unknown. Has lists the pollutants that
// the station measured in the 24 hours before its last reading. Missing lists the conditions that the station does not
// meet.
type NearestStation struct {
	ID         string      `json:"id"`
	DistanceKM *Figure     `json:"distance_km"`
	Kind       string      `json:"kind"`
	Has        []string    `json:"has"`
	Missing    []Condition `json:"missing"`
}

// Condition is a condition that a station must meet before an answer can use its data.
type Condition string

// The conditions for a station. The first three are those of the National AQI (CPCB, 2014).
const (
	ThreePollutants Condition = "three_pollutants" // it measures at least three pollutants
	OnePM           Condition = "pm25_or_pm10"     // it measures PM2.5 or PM10
	SixteenHours    Condition = "sixteen_hours"    // enough of its pollutants have values in 16 of the last 24 hours
	CountedKind     Condition = "kind"             // its kind counts by default, or the query names it in `kinds`
	Recent          Condition = "recent"           // its last reading is in the last 24 hours
	Within100KM     Condition = "within_100_km"    // it is at most 100 km away
	InPeriod        Condition = "period"           // it has an AQI on a requested day
)

// Conditions lists all conditions for a station, in the order of the constants.
var Conditions = [...]Condition{ThreePollutants, OnePM, SixteenHours, CountedKind, Recent, Within100KM, InPeriod}

// ProblemDetail is one of the errors in a request that has several.
type ProblemDetail struct {
	Field   string `json:"field"`
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// ProblemBody is the body of an error reply.
type ProblemBody struct {
	Status  string  `json:"status"`
	Message string  `json:"message"`
	Error   Problem `json:"error"`
}

// NewProblem returns an error for the client. `field` is the invalid parameter or JSON field, or "" if there is none.
func NewProblem(code Code, field, message string) *Problem {
	return &Problem{Code: code, Field: field, Message: message, Retryable: code.Status() == 429 || code.Status() >= 502}
}

// RequestErrors collects the errors of one request, in the order of their detection.
type RequestErrors []ProblemDetail

// Add adds an error with the code invalid_request for a parameter or JSON field.
func (f *RequestErrors) Add(field, message string) { f.AddAs(InvalidRequest, field, message) }

// AddAs adds an error with a code for a parameter or JSON field.
func (f *RequestErrors) AddAs(code Code, field, message string) {
	*f = append(*f, ProblemDetail{Field: field, Code: code, Message: message})
}

// Problem returns all errors as one Problem, or nil if there are none.
func (f RequestErrors) Problem() error { return NewProblemOf(f) }

// ProblemByStatus returns all errors as one Problem, sorted by their HTTP status: 400 precedes 422. It returns nil if
// there are no errors.
func (f RequestErrors) ProblemByStatus() error {
	slices.SortStableFunc(f, func(a, b ProblemDetail) int { return cmp.Compare(a.Code.Status(), b.Code.Status()) })
	return f.Problem()
}

// NewProblemOf returns several errors as one Problem, which has the code of the first
// error. It returns nil if there are no errors.
func NewProblemOf(faults []ProblemDetail) error {
	if len(faults) == 0 {
		return nil
	}
	p := NewProblem(faults[0].Code, faults[0].Field, faults[0].Message)
	if len(faults) > 1 {
		p.Details = faults
	}
	return p
}

// Unavailable returns a Problem with the code service_unavailable for a temporary failure. The client gets only
// `message`. The text of the error, for the log, also has `cause`.
func Unavailable(message string, cause error) error {
	return &unavailableError{NewProblem(ServiceUnavailable, "", message), cause}
}

type unavailableError struct {
	*Problem
	cause error
}

func (e *unavailableError) Error() string { return e.Problem.Error() + ": " + e.cause.Error() }

// Unwrap returns both the Problem and the cause, so that errors.As finds both.
func (e *unavailableError) Unwrap() []error { return []error{e.Problem, e.cause} }

// Error returns the code and the message. It implements error.
func (p *Problem) Error() string { return string(p.Code) + ": " + p.Message }

// Body returns the body of an error reply with this Problem.
func (p *Problem) Body(requestID string) ProblemBody {
	e := *p
	e.RequestID = requestID
	return ProblemBody{Status: "error", Message: p.Message, Error: e}
}
