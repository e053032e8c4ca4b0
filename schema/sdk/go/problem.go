package vayu

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// ProblemError is an error reply of the service. Branch on Code; messages can change.
type ProblemError struct {
	Status int // HTTP status
	// Code is stable, such as "location_not_found". It is "unexpected_reply" if the body of the reply is not an error
	// body of the API, for example because a proxy has sent the reply.
	Code    string
	Message string
	// Field is the parameter or the JSON field that caused the error. It may be empty.
	Field       string
	Details     []Detail // all errors of the request, if there are several
	Suggestions []string
	Candidates  []string
	RequestID   string // include it in support requests
	Retryable   bool
	RetryAfter  time.Duration // wait that the header Retry-After states; 0 without the header
	Body        []byte        // the whole reply; the reply to a failed recharge has the transaction
}

// Detail is one of several errors of a request.
type Detail struct {
	Code    string `json:"code"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error returns the message, with the code and the id of the request.
func (e *ProblemError) Error() string {
	return fmt.Sprintf("vayu: %s (%s, status %d, request %s)", e.Message, e.Code, e.Status, e.RequestID)
}

func newProblemError(resp *http.Response, text []byte) *ProblemError {
	var body struct {
		Status string `json:"status"`
		Error  struct {
			Code        string   `json:"code"`
			Message     string   `json:"message"`
			Field       string   `json:"field"`
			Details     []Detail `json:"details"`
			Suggestions []string `json:"suggestions"`
			Candidates  []string `json:"candidates"`
			RequestID   string   `json:"request_id"`
			Retryable   *bool    `json:"retryable"`
		} `json:"error"`
	}
	if json.Unmarshal(text, &body) != nil || body.Error.Code == "" {
		body.Error.Code = "unexpected_reply"
		body.Error.Message = "The reply has no problem of the contract."
	}
	p := &ProblemError{
		Status: resp.StatusCode, Code: body.Error.Code, Message: body.Error.Message, Field: body.Error.Field, Details: body.Error.Details,
		Suggestions: body.Error.Suggestions, Candidates: body.Error.Candidates, RequestID: body.Error.RequestID, Body: text,
	}
	if p.RequestID == "" {
		p.RequestID = resp.Header.Get("X-Request-Id")
	}
	switch p.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		p.Retryable = true
	}
	if body.Error.Retryable != nil {
		p.Retryable = *body.Error.Retryable
	}
	// A transaction that has failed stays failed, so a repeated request has the same reply.
	p.Retryable = p.Retryable && body.Status != "failed"
	if seconds, err := strconv.ParseUint(resp.Header.Get("Retry-After"), 10, 31); err == nil {
		p.RetryAfter = time.Duration(seconds) * time.Second
	}
	return p
}
