package verify

import (
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"vayu/internal/access/idempotency"
	
	"vayu/internal/httpapi"
	"vayu/pipeline/listing"
	"vayu/pipeline/upstream"
	"vayu/schema"
)

// path is the collection of verifications.
const path = "/v1/bank/verify"

const (
	// usualWait is the time that a reply waits for the bank. The slowest penny drops take 30 s,
	// and the server allows a minute for a reply.
	usualWait   = 32 * time.Second
	longestWait = 30 * time.Second // limit of the wait that a client requests
)

// Routes returns the endpoints for verifications, without those for batches.
func (s *Service) Routes() []httpapi.Route {
	const write, read = string(schema.VerifyWrite), string(schema.VerifyRead)
	return []httpapi.Route{
		{Method: http.MethodPost, Path: path, Scope: write, Limit: httpapi.Money, Body: httpapi.SmallBody, Handler: s.post},
		{Method: http.MethodGet, Path: path, Scope: read, Handler: s.list},
		{Method: http.MethodGet, Path: path + "/{id}", Scope: read, Handler: s.get},
	}
}

// post answers POST /v1/bank/verify.
func (s *Service) post(c *httpapi.Call) (httpapi.Response, error) {
	if _, err := httpapi.Parameters(c.URL.RawQuery); err != nil {
		return httpapi.Response{}, err
	}
	if len(c.Body) == 0 {
		return httpapi.Response{}, schema.NewProblem(schema.InvalidRequest, "", "A body is needed: a JSON object.")
	}
	r, async, err := requestOf(c.Body)
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

// pendingProblem explains a reply without an outcome. A request with a ref_id or an
// Idempotency-Key is retryable, because its repetition creates no second verification.
func pendingProblem(r *Record, once bool) *schema.Problem {
	p := &schema.Problem{Code: r.DelayCode, Retryable: r.RefID != "" || once}
	if p.Code == "" {
		p.Code = schema.BankTimeout
	}
	p.Message = failureTexts[p.Code] + " The verification goes on."
	return p
}

// statusOf returns the HTTP status of the reply. A missing account is an outcome, not a failed
// call.
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

// get answers GET /v1/bank/verify/{id}.
func (s *Service) get(c *httpapi.Call) (httpapi.Response, error) {
	detailed, err := upstream.DetailRequested(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	if detailed {
		return s.getDetail(c)
	}
	rec, err := s.Find(c.Context(), c.Owner(), mux.Vars(c.Request)["id"])
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Response{Value: toWire(&rec)}, nil
}

// getDetail answers GET /v1/bank/verify/{id}?view=detail.
func (s *Service) getDetail(c *httpapi.Call) (httpapi.Response, error) {
	rec, timeline, err := s.Timeline(c.Context(), c.Owner(), mux.Vars(c.Request)["id"])
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Response{Value: schema.VerificationDetail{Verification: toWire(&rec), ProviderCalls: timeline}}, nil
}

// verifications describes the table "verification" for lists and for lookups by id.
var verifications = listing.Table[Record]{
	Name: "verification", Columns: columns, Prefix: idPrefix, Unindexed: string(schema.VerificationSuccess), Scan: scanRecord,
	Of: func(r *Record) listing.Facts {
		return listing.Facts{ID: r.ID, Owner: r.Owner, State: string(r.State), Ref: r.RefID, CreatedAt: r.CreatedAt}
	},
}

// list answers GET /v1/bank/verify.
func (s *Service) list(c *httpapi.Call) (httpapi.Response, error) {
	return listing.Answer(c, s.Cipher, s.DB.View(c.Context()), &verifications, "verifications", schema.VerificationStates, toWire)
}
