// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What was measured, when, and on which hosts.

const MAX_TITLE_NAMES = 3;
const MAX_KINDS_OF_HOSTS = 4;

// "a, b and 3 more"
function listSome(texts, max) {
  if (texts.length <= max) return texts.join(', ');
  return `${texts.slice(0, max).join(', ')} and ${texts.length - max} more`;
}

function titleOf(names) {
  if (names.length > 0) return listSome(names, MAX_TITLE_NAMES);
  return partsWith('title').map(title => title()).find(Boolean) ?? 'No tests';
}

function describeTime() {
  const starts = runs.map(run => run.run.start_timestamp_ns).filter(start => start !== null);
  if (starts.length === 0) return '';
  const [first, last] = [Math.min(...starts), Math.max(...starts)].map(formatDate);
  return first === last ? first : `${first} to ${last}`;
}

function describeSoftware() {
  const versions = runs.map(({run}) => [run.version, run.revision].filter(Boolean).join(' ')).filter(Boolean);
  const seeds = [...new Set(runs.map(({run}) => run.random_seed).filter(seed => seed !== null))];
  return [
    versions.length === 0 ? '' : `distbench ${listSome([...new Set(versions)], 3)}`,
    seeds.length === 0 ? '' : `${seeds.length === 1 ? 'seed' : 'seeds'} ${listSome(seeds, 3)}`,
  ];
}

function describeKindOfHost(host) {
  return [
    host.kernel?.split(' ').slice(0, 2).join(' '),
    host.cpu_count === null ? '' : plural(host.cpu_count, 'CPU'),
    host.cpu_model,
    host.memory_bytes === null ? '' : formatBytes(host.memory_bytes),
  ].filter(Boolean).join(', ') || 'unknown';
}

// "25 × Linux 6.1, 2 CPUs": equal hosts are described once.
function describeHosts() {
  const nodes = new Set();
  const hosts = new Map();
  for (const {name, host} of runs.flatMap(run => run.nodes)) {
    if (host === null) continue;
    const kind = describeKindOfHost(host);
    nodes.add(JSON.stringify([name, host.hostname]));
    hosts.set(JSON.stringify([host.hostname ?? name, kind]), kind);
  }
  const counts = new Map();
  for (const kind of hosts.values()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const kinds = [...counts].sort((a, b) => b[1] - a[1]).map(([kind, count]) => `${formatCount(count)} × ${kind}`);
  if (kinds.length === 0) return '';
  const where = nodes.size === hosts.size ? '' : `${plural(nodes.size, 'node')} on ${plural(hosts.size, 'host')}: `;
  return where + (kinds.length <= MAX_KINDS_OF_HOSTS ? kinds.join('; ')
      : `${kinds.slice(0, MAX_KINDS_OF_HOSTS).join('; ')}; and ${kinds.length - MAX_KINDS_OF_HOSTS} other kinds`);
}

// "simulated", or how much of the page is; empty if all of it was measured.
function simulatedMark() {
  const all = [...runs, ...partsWith('outcomes').flatMap(outcomes => outcomes())];
  const count = all.filter(({simulated}) => simulated).length;
  if (count === 0) return '';
  return count === all.length ? 'simulated' : `${count} of ${all.length} simulated`;
}

function simulatedBadge() {
  const mark = simulatedMark();
  return mark === '' ? [] : [' ', element('span', {className: 'badge simulated'}, mark)];
}

function renderSubtitle() {
  const names = [...new Set(runs.map(run => run.name))];
  const sources = new Set(runs.map(run => run.source));
  const title = titleOf(names);
  byId('title').replaceChildren(title, ...simulatedBadge());
  document.title = `${[title, simulatedMark()].filter(Boolean).join(', ')} – distbench`;
  byId('subtitle').textContent = [
    runs.length === 1 ? '' : plural(runs.length, 'run'),
    sources.size <= 1 ? '' : `${sources.size} files`,
    describeTime(), ...describeSoftware(),
  ].filter(Boolean).join(' · ');
  byId('hosts').textContent = describeHosts();
  byId('page-maker').textContent = `Report made by distbench ${data.distbench_version}.`;
}
