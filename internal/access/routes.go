package access

import (
	"net/http"

	"vayu/internal/access/audit"
	"vayu/internal/access/session"
	"vayu/internal/httpapi"
	"vayu/schema"
)

// Routes are the endpoints for keys, account, usage, audit log and sessions.
func (s *Service) Routes() []httpapi.Route {
	const (
		read   = string(schema.AccountRead)
		manage = string(schema.KeysManage)
		body   = httpapi.SmallBody
	)
	sessions := session.Endpoints{DB: s.DB, Now: s.Now, Change: s.changeSessions}
	return append([]httpapi.Route{
		{Method: http.MethodPost, Path: "/v1/keys", Scope: manage, Body: body, Handler: s.postKey},
		{Method: http.MethodGet, Path: "/v1/keys", Scope: read, Params: []string{"limit", "cursor"}, Handler: s.listKeys},
		{Method: http.MethodGet, Path: "/v1/keys/{id}", Scope: read, Body: 0, Handler: s.getKey},
		{Method: http.MethodDelete, Path: "/v1/keys/{id}", Scope: manage, Body: 0, Handler: s.deleteKey},
		{Method: http.MethodPost, Path: "/v1/keys/{id}/rotate", Scope: manage, Body: body, Handler: s.rotateKey},
		{Method: http.MethodGet, Path: "/v1/account", Scope: read, Body: 0, Handler: s.getAccount},
		{Method: http.MethodPatch, Path: "/v1/account", Scope: manage, Body: body, Handler: s.patchAccount},
		{Method: http.MethodGet, Path: "/v1/usage", Scope: read, Params: []string{"from", "to", "by", "key"}, Handler: s.getUsage},
		(&audit.Log{DB: s.DB, Cipher: s.Cipher}).Route(),
	}, sessions.Routes()...)
}

// changeSessions runs a change of sessions. The reply is not stored, because it may contain a session token.
func (s *Service) changeSessions(c *httpapi.Call, do session.Change) (httpapi.Response, error) {
	return s.change(c, change{access: true, notStored: true, do: do})
}

// ChangeMembers runs a change of members and their keys like [Service.Change], and refreshes the cache after it.
func (s *Service) ChangeMembers(c *httpapi.Call, do session.Change) (httpapi.Response, error) {
	return s.refreshed(c, change{do: do})
}
