package schema

import "slices"

// Scope is a permission of an API key. A key has by default every scope except keys:manage and sources:read.
type Scope string

// The scopes that a key can have.
const (
	AQIRead        Scope = "aqi:read"
	RechargeWrite  Scope = "recharge:write"
	RechargeRead   Scope = "recharge:read"
	VerifyWrite    Scope = "verify:write"
	VerifyRead     Scope = "verify:read"
	WebhooksManage Scope = "webhooks:manage"
	AccountRead    Scope = "account:read"
	KeysManage     Scope = "keys:manage"
	ReadingsWrite  Scope = "readings:write"
	// SourcesRead permits operators to read the problems, errors and rejected records of sources.
	SourcesRead Scope = "sources:read"
	// ExportRead permits exports of whole tables.
	ExportRead Scope = "export:read"
	// AlertsManage permits the management of alerts about the air, and access to their events.
	AlertsManage Scope = "alerts:manage"
)

// Scopes lists every scope.
var Scopes = []Scope{AQIRead, RechargeWrite, RechargeRead, VerifyWrite, VerifyRead, WebhooksManage, AccountRead, KeysManage, ReadingsWrite, SourcesRead, ExportRead, AlertsManage}

// DefaultScopes returns the scopes of a new key if the request for it names no scopes.
func DefaultScopes() []Scope {
	return slices.DeleteFunc(slices.Clone(Scopes), func(s Scope) bool { return s == KeysManage || s == SourcesRead })
}

// ScopeSet is a set of scopes. Bit i is set if the set contains Scopes[i]. The zero value is the empty set.
type ScopeSet uint16

// SetOf returns the set of the given scopes. It ignores unknown scopes.
func SetOf(scopes ...Scope) (set ScopeSet) {
	for _, scope := range scopes {
		if i := slices.Index(Scopes, scope); i >= 0 {
			set |= 1 << i
		}
	}
	return set
}

// Has reports whether the set contains a scope. No set contains an unknown scope.
func (s ScopeSet) Has(scope Scope) bool { return s&SetOf(scope) != 0 }

// Key is an API key without its secret. Times are RFC 3339 in UTC, in whole seconds.
type Key struct {
	ID               string   `json:"id"`
	Name             string   `json:"name"`
	Mode             string   `json:"mode"` // live or sandbox
	Prefix           string   `json:"prefix"`
	LastFour         string   `json:"last_four"`
	Scopes           []Scope  `json:"scopes"`
	AllowList        []string `json:"allow_list"` // CIDRs; empty for every address
	RequireSignature bool     `json:"require_signature"`
	Active           bool     `json:"active"`
	CreatedAt        string   `json:"created_at"`
	ExpiresAt        *string  `json:"expires_at"`
	RevokedAt        *string  `json:"revoked_at"`
	LastUsedAt       *string  `json:"last_used_at"`
	RotatedFrom      *string  `json:"rotated_from"`
}

// KeyCreated is the reply to POST /v1/keys. Only this reply contains the new key itself and its signing secret.
type KeyCreated struct {
	Status        string `json:"status"`
	Key           string `json:"key"`
	SigningSecret string `json:"signing_secret,omitempty"` // only if the key requires signatures
	Data          Key    `json:"data"`
}

// KeyReply is a reply about one key.
type KeyReply struct {
	Status string `json:"status"`
	Data   Key    `json:"data"`
}

// Account is the reply to GET /v1/account.
type Account struct {
	Status    string   `json:"status"`
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Mode      string   `json:"mode"` // mode of the calling key
	Plan      string   `json:"plan"`
	AllowList []string `json:"allow_list"`
	CreatedAt string   `json:"created_at"`
	Quota     *Quota   `json:"quota"` // null if calls are not counted: an unlimited plan, or the sandbox
}

// Quota is an account's monthly quota of calls, and the used part of it. Months are in UTC. Quota is also the data of
// the events quota.warning (Threshold 80) and quota.exceeded (Threshold 100).
type Quota struct {
	Period    string `json:"period"` // 2026-11
	Limit     int64  `json:"limit"`
	Used      int64  `json:"used"`
	Percent   int64  `json:"percent"` // whole per cent, rounded down
	Threshold int64  `json:"threshold,omitempty"`
	ResetsAt  string `json:"resets_at"`
}

// UsageDay counts the calls of one operation on one day (UTC). If KeyID is set, it counts only the calls with that key.
type UsageDay struct {
	Date      string `json:"date"`
	Operation string `json:"operation"`        // such as "GET /v1/aqi"
	KeyID     string `json:"key_id,omitempty"` // only in usage by key
	Calls     int64  `json:"calls"`            // requests with a valid key
	Failed    int64  `json:"failed"`           // calls that got a reply 4xx or 5xx
	Counted   int64  `json:"counted"`          // calls that count towards the quota
}

// Usage is the reply to GET /v1/usage. Quota is always the quota of the current month, even if the request selects
// other days.
type Usage struct {
	Status string     `json:"status"`
	Mode   string     `json:"mode"`
	Quota  *Quota     `json:"quota"` // null as in Account
	Days   []UsageDay `json:"days"`
}

// AuditRow is one row of the audit log. Hash covers this row and the Hash of the previous row. It is in lower-case
// hexadecimal.
type AuditRow struct {
	Seq       int64          `json:"seq"`
	At        string         `json:"at"` // RFC 3339 with microseconds
	Actor     string         `json:"actor"`
	Action    string         `json:"action"`
	Subject   string         `json:"subject"`
	RequestID string         `json:"request_id"`
	Client    string         `json:"client"` // IP address; empty for commands
	Detail    map[string]any `json:"detail"`
	Hash      string         `json:"hash"`
}

// Owner identifies to whom data belong: an account in one of the worlds (live or sandbox).
type Owner struct {
	Account string // id of the account
	World   World
}
