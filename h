HTTP/1.1 200 OK
X-Request-Id: req_a01z8bc7vp2gnd7n
X-SERVICE-Version: 2026-11-01
X-Content-Type-Options: nosniff
X-SERVICE-Mode: sandbox
Vary: Authorization
RateLimit-Policy: "default";q=100;w=2
RateLimit: "default";r=99;t=1
X-RateLimit-Limit: 100
X-RateLimit-Remaining: 99
X-RateLimit-Reset: 1795857797
Cache-Control: private, max-age=3600
Content-Language: pa
Content-Length: 3352
Content-Type: application/json
Etag: "29e6fedb4a1320de"
Vary: Accept-Encoding
Date: Sat, 28 Nov 2026 09:23:16 GMT

