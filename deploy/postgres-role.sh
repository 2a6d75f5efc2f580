#!/bin/sh
# Run once by the PostgreSQL image when it initializes its volume. Creates the service's role, which owns only its database.
set -eu
psql --no-psqlrc --set=ON_ERROR_STOP=1 --set=password="$RESOURCE_PASSWORD" \
  --username="$POSTGRES_USER" --dbname=postgres <<'SQL'
CREATE ROLE resource LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'password';
CREATE DATABASE resource OWNER resource;
REVOKE ALL ON DATABASE resource FROM PUBLIC;
REVOKE CONNECT ON DATABASE postgres FROM PUBLIC;
SQL
