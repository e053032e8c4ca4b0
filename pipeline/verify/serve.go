package verify

import (
	"net/http"
	"time"

	"vayu/internal/access/idempotency"
	"vayu/internal/httpapi"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/request"
	"vayu/schema"
)

// path is the API path of verifications.
const path = "/v1/bank/verify"

const (
	// usualWait limits how long a request waits for the bank if the client requests no wait. The slowest penny drops
	// take 30 s, and the server allows a minute for a reply.
	usualWait   = 32 * time.Second
	longestWait = 30 * time.Second // limit of the wait that a client requests
)

// Routes returns the endpoints for verifications, without those for batches.
func (s *Service) Routes() []httpapi.Route {
	const write, read = string(schema.VerifyWrite), string(schema.VerifyRead)
	return []httpapi.Route{
		{Method: http.MethodPost, Path: path, Scope: write, Limit: httpapi.Money, Body: httpapi.SmallBody, Handler: s.post},
		{Method: http.MethodGet, Path: path, Scope: read, Params: append([]string{"method"}, transaction.ListParams...), Handler: s.Core.ServeList},
		{Method: http.MethodGet, Path: path + "/{id}", Scope: read, Params: []string{"view"}, Handler: s.Core.ServeOne},
	}
}

// post answers POST /v1/bank/verify.
func (s *Service) post(c *httpapi.Call) (httpapi.Response, error) {
	r, async, err := request.Parse(c.Body)
	if err != nil {
		return httpapi.Response{}, err
	}
	if r.Once, err = idempotency.Parse(s.Cipher, c); err != nil {
		return httpapi.Response{}, err
	}
	r.Owner, r.Caller = c.Owner(), c.Who()
	wait, patient := httpapi.PreferWait(c.Header["Prefer"], longestWait)
	switch {
	case async:
		wait, patient = 0, true
	case !patient:
		wait = usualWait
	}
	rec, replayed, err := s.Do(c.Context(), r, wait, patient)
	if err != nil {
		return httpapi.Response{}, err
	}
	value := toWire(&rec)
	resp := httpapi.Response{Status: statusOf(&rec), Replayed: replayed}
	if rec.State == schema.VerificationPending {
		resp.Location = path + "/" + rec.ID
		if !patient {
			value.Error = pendingProblem(&rec, r.Once != nil)
			resp.Status = value.Error.Code.Status()
		}
	}
	if value.Error != nil {
		value.Error.RequestID = c.ID
	}
	resp.Value = value
	return resp, nil
}

// pendingProblem explains a reply without an outcome. A request with a ref_id or an Idempotency-Key
// (`once`) is retryable, because its repetition creates no second verification.
func pendingProblem(r *Record, once bool) *schema.Problem {
	p := &schema.Problem{Code: r.DelayCode, Retryable: r.RefID != "" || once}
	if p.Code == "" {
		p.Code = schema.BankTimeout
	}
	p.Message = failureTexts[p.Code] + " The verification continues."
	return p
}

// statusOf returns the HTTP status of a reply without a pendingProblem. If the bank replied that
// the bank account does not exist, the status is 200, because the verification has a result.
func statusOf(r *Record) int {
	switch {
	case r.State == schema.VerificationPending:
		return http.StatusAccepted
	case r.State == schema.VerificationFailed && !reached(r):
		return r.ErrorCode.Status()
	default:
		return http.StatusOK
	}
}
