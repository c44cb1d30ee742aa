// What script adds to pages that work without it: keys, live values, clocks. No framework, no build.
'use strict';
const $ = (q, at = document) => at.querySelector(q);
const $$ = (q, at = document) => [...at.querySelectorAll(q)];
const keep = { get: k => { try { return localStorage.getItem(k) } catch { return null } },
  set: (k, v) => { try { v === null ? localStorage.removeItem(k) : localStorage.setItem(k, v) } catch {} } };
const page = document.body.dataset;
if (keep.get('theme')) document.documentElement.dataset.theme = keep.get('theme');

// ---- one polite voice, at most once in five seconds
let spoke = 0, toSay = null;
function say(text) {
  const wait = 5000 - (Date.now() - spoke);
  if (wait > 0) { clearTimeout(toSay); toSay = setTimeout(() => say(text), wait); return }
  spoke = Date.now(); $('#voice').textContent = text;
}

// ---- clocks
function ago(s) {
  if (s < 60) return s + ' s'; if (s < 3600) return Math.floor(s / 60) + ' min';
  if (s < 86400) return Math.floor(s / 3600) + ' h'; return Math.floor(s / 86400) + ' d';
}
function tick() {
  if (document.hidden) return;
  for (const t of $$('time[data-since]')) {
    const text = ago(Math.max(0, Math.round((Date.now() - Date.parse(t.dateTime)) / 1000)));
    if (t.textContent !== text) t.textContent = text;
  }
}
if (!page.still) setInterval(tick, 1000);

// ---- live: an event says that something changed, the server says what it looks like now
// The first look only catches up with what the page missed while it was made: nothing moves for that.
let busy = false, first = true, again = 250, rest = null, due = new Set(), waiting = new Map();
const inList = el => el.contains(document.activeElement) && document.activeElement !== document.body || el.matches(':hover');
function rows(el) { return $$('[data-row]', el).map(r => r.dataset.row).join() }
function opened(el) { return new Map($$('details[id]', el).map(d => [d.id, d.open])) }
function put(old, fresh) {
  if (old.dataset.version === fresh.dataset.version) return;
  if (old.dataset.list !== undefined && inList(old) && rows(old) !== rows(fresh)) {
    waiting.set(old.id, fresh);
    const n = $$('[data-row]', fresh).filter(r => !$(`[data-row="${CSS.escape(r.dataset.row)}"]`, old)).length;
    const b = $('#new'); b.hidden = false; b.firstChild.textContent = n ? n + ' new ' : 'changed ';
    return;
  }
  const open = opened(old), at = document.activeElement, row = at && at.closest('[data-row]');
  const name = at && at.id, typed = at && 'value' in at && old.contains(at) ? [at.value, at.selectionStart] : null;
  if (typed && at.dataset.asked !== at.value && at.tagName !== 'BUTTON') return; // never under somebody's hand
  const kept = $$('textarea[id],input[type=text][id],input:not([type])[id]', old).filter(t => t.value !== t.defaultValue).concat($$('select[id]', old)).map(t => [t.id, t.value]);
  const end = follows(), before = $$('.ev', old).length;
  old.innerHTML = fresh.innerHTML; old.dataset.version = fresh.dataset.version || '';
  for (const [id, value] of kept) { const t = document.getElementById(id); if (t) t.value = value }
  for (const [id, is] of open) { const d = document.getElementById(id); if (d) d.open = is }
  if (name && document.getElementById(name)) document.getElementById(name).focus({ preventScroll: true });
  else if (row) { const r = $(`[data-row="${CSS.escape(row.dataset.row)}"] a`, old); if (r) r.focus({ preventScroll: true }) }
  if (!first) { old.classList.add('changed'); setTimeout(() => old.classList.remove('changed'), 150) }
  const more = $$('.ev', old).length - before;
  if (more > 0) { if (end) scrollTo(0, document.body.scrollHeight); else { const b = $('#below'); if (b) { b.hidden = false; b.firstChild.textContent = more + ' new ' } } }
}
function take() { for (const [id, fresh] of waiting) { const old = document.getElementById(id); if (old) { document.activeElement.blur(); old.innerHTML = fresh.innerHTML; old.dataset.version = fresh.dataset.version } } waiting.clear(); $('#new').hidden = true; enliven() }
const follows = () => page.page === 'session' && innerHeight + scrollY >= document.body.scrollHeight - 80;
// Only the regions that an event concerns are asked for, with the version that is there; only other ones come back.
function want(e) {
  const mine = concerns(e);
  for (const el of $$('[data-live][id]')) if (e.type === 'again' || (mine || el.dataset.wide !== undefined) && (!el.dataset.live || el.dataset.live.split(' ').includes(e.type))) due.add(el.id);
  // The server is there again: what waits for it waits no longer.
  if (e.type === 'again') { again = 250; if (rest) { rested(); return } }
  refresh();
}
async function refresh() {
  if (busy || !due.size) return;
  busy = true;
  const asked = due; due = new Set();
  try {
    const have = [...asked].map(id => document.getElementById(id)).filter(el => el).map(el => el.id + '=' + (el.dataset.version || '')).join(' ');
    const answer = await fetch(location.href, { headers: { accept: 'text/html', 'x-heirloom-regions': have }, credentials: 'same-origin', cache: 'no-store' });
    if (answer.status === 401) { location.reload(); return }
    const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const version = fresh.body.dataset.version;
    if (version !== page.version) { cut('heirloom was updated', true); return }
    const now = fresh.body.dataset, count = Number(now.needs), had = Number(page.needs);
    for (const el of $$('[data-live]')) { const other = fresh.getElementById(el.id); if (other) put(el, other) }
    if (fresh.title) document.title = fresh.title;
    if (count > had) say(count + (count === 1 ? ' needs you' : ' need you'));
    notify('approvals', now, n => n === 1 ? '1 approval is waiting' : n + ' approvals are waiting');
    notify('failed', now, n => n === 1 ? '1 session has failed' : n + ' sessions have failed');
    page.needs = count; enliven(); tick(); first = false; again = 250;
  } catch { for (const id of asked) due.add(id); again = Math.min(again * 2, 30000) } finally {
    rest = setTimeout(rested, again);
  }
}
function rested() { clearTimeout(rest); rest = null; busy = false; refresh() }
// On the desktop, for each kind that was asked for: how many there are, and not a word of what they say.
function notify(kind, now, words) {
  const count = Number(now[kind]), more = count > Number(page[kind]);
  page[kind] = count;
  if (more && keep.get('notify-' + kind) === 'on' && 'Notification' in window && Notification.permission === 'granted' && document.hidden)
    new Notification('heirloom', { body: words(count), tag: 'heirloom-' + kind });
}
function concerns(e) {
  if (e.type === 'output') return page.page === 'session' && page.session === e.session;
  if (page.page === 'session') return !e.session || page.session === e.session;
  return true;
}
// One stream a browser: the tab that has the lock passes on what it hears.
const air = 'BroadcastChannel' in window ? new BroadcastChannel('heirloom') : null;
if (air) air.onmessage = m => heard(m.data);
function heard(m) { if (m.state) state(m.state, m.next); else want(m) }
function tell(m) { heard(m); if (air) air.postMessage(m) }
let last = null, pause = 1000;
async function listen() {
  for (;;) {
    try {
      const answer = await fetch('/api/v1/events', { headers: last ? { 'last-event-id': last } : {}, credentials: 'same-origin' });
      if (answer.status === 401) { location.reload(); return }
      if (!answer.ok) throw 0;
      tell({ state: 'live' });
      // The first time too: something may have happened between the making of this page and now.
      tell({ type: 'again' }); pause = 1000;
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let text = ''; ;) {
        const { value, done } = await reader.read();
        if (done) break;
        text += value;
        const parts = text.split('\n\n'); text = parts.pop();
        for (const part of parts) {
          let data = null;
          for (const line of part.split('\n')) { if (line.startsWith('id: ')) last = line.slice(4); if (line.startsWith('data: ')) data = line.slice(6) }
          if (data) tell(JSON.parse(data));
        }
      }
    } catch { }
    tell({ state: 'cut', next: Date.now() + pause });
    await new Promise(r => { wake = r; setTimeout(r, pause) });
    pause = Math.min(pause * 2, 15000);
  }
}
let wake = null;
function state(now, next) {
  $('.live').lastChild.textContent = now === 'live' ? 'live' : 'cut off';
  if (now === 'live') { const c = $('#cut'); if (!c.dataset.stays) c.hidden = true; for (const f of $$('form[method=post] button')) if (f.dataset.cut) { f.disabled = false; delete f.dataset.cut } }
  else cut('Cut off at ' + new Date().toLocaleTimeString() + '; this page is from then. Next try in ' + Math.max(1, Math.round((next - Date.now()) / 1000)) + ' s');
}
function cut(text, stays) {
  const c = $('#cut'); c.hidden = false; c.firstChild.textContent = text + ' '; if (stays) c.dataset.stays = '1';
  if (!stays) for (const b of $$('form[method=post] button')) if (!b.disabled) { b.disabled = true; b.dataset.cut = '1' }
}
if (page.live !== undefined) {
  if (navigator.locks) {
    navigator.locks.request('heirloom', listen);
    // Another tab listens: what it heard while this page was made was passed on to nobody here.
    navigator.locks.query().then(known => { if (known.held.some(lock => lock.name === 'heirloom')) want({ type: 'again' }) });
  } else listen();
}

// ---- what each page adds
function enliven() {
  if (held) hold();
  for (const el of $$('textarea[data-asked]')) el.oninput = () => { const b = $('[data-edit]'); if (b) b.classList.toggle('primary', el.value !== el.dataset.asked) };
  for (const f of $$('form[method=post]')) f.onsubmit = () => { for (const b of $$('button', f)) setTimeout(() => { b.disabled = true }, 0); say('sending') };
  for (const f of $$('fieldset[data-field]')) f.onchange = () => { const box = document.getElementById('set-' + f.dataset.field); if (box) { box.hidden = $('input:checked', f).value !== 'set'; if (!box.hidden) $('input,textarea', box).focus() } };
}
// A decision is never made by a key that was still held.
let held = page.page === 'approval';
function hold() { for (const b of $$('button[name=do]')) b.disabled = held }
enliven();
for (const f of $$('fieldset[data-field]')) { const box = document.getElementById('set-' + f.dataset.field); if (box) box.hidden = $('input:checked', f).value !== 'set' }
const differs = $('#difference');
if (differs) { // what the child will have otherwise, as the server reads it
  let soon = 0;
  addEventListener('input', e => {
    const form = e.target.closest('form[data-send]'); if (!form || e.target.id === 'prompt') return;
    clearTimeout(soon); soon = setTimeout(async () => {
      const said = new URLSearchParams([...new FormData(form)].filter(([name]) => /^(do|set)-/.test(name)));
      try { const answer = await fetch(differs.dataset.from + '?' + said, { credentials: 'same-origin' }); if (answer.ok) { differs.innerHTML = await answer.text(); say('what differs has changed') } } catch { }
    }, 200);
  });
}
if (held) setTimeout(() => { held = false; hold() }, 600);
if (page.page === 'session' && !location.hash && $('[data-running]')) scrollTo(0, document.body.scrollHeight);
for (const s of $$('[data-setting]')) {
  s.checked = keep.get(s.dataset.setting) === s.value;
  s.onchange = async () => {
    if (s.dataset.setting.startsWith('notify') && s.checked && await Notification.requestPermission() !== 'granted') { s.checked = false; return }
    keep.set(s.dataset.setting, s.checked ? s.value : null);
    if (s.dataset.setting === 'theme') { if (s.checked) document.documentElement.dataset.theme = s.value; else delete document.documentElement.dataset.theme; for (const o of $$('[data-setting=theme]')) if (o !== s) o.checked = false }
  };
}
$('#new').onclick = take;
if ($('#below')) $('#below').onclick = () => { scrollTo(0, document.body.scrollHeight); $('#below').hidden = true };

// ---- keys: a key goes to a button, Enter presses it
const go = href => { location.href = href };
const focus = q => { const el = typeof q === 'string' ? $(q) : q; if (el) { el.focus(); el.scrollIntoView({ block: 'nearest' }) } return el };
function step(by, q) {
  const all = $$(q); if (!all.length) return;
  const at = all.findIndex(el => el === document.activeElement || el.contains(document.activeElement));
  focus(all[Math.max(0, Math.min(all.length - 1, at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by))]);
}
const rowLink = '[data-row] a.open, .ev, fieldset[data-field] input:checked';
const link = name => { const at = document.activeElement.closest('[data-row]'); const el = at && $(`[data-go="${name}"]`, at) || $(`main [data-go="${name}"]`); if (el) el.tagName === 'A' ? go(el.href) : focus(el) };
const pick = value => { const f = document.activeElement.closest('fieldset[data-field]'); const r = f && $(`input[value=${value}]`, f); if (r) { r.checked = true; r.focus(); f.onchange(); r.dispatchEvent(new Event('input', { bubbles: true })) } };
const own = {
  approval: { a: () => focus('[data-go=approve]'), e: () => document.activeElement.id === 'input' ? focus('[data-edit]') : focus('#input'), s: () => focus('[data-go=session]'), d: () => $('#reason').value ? focus('[data-go=deny]') : focus('#reason'), n: () => link('next'), v: () => link('event') },
  session: { J: () => step(1, '.ev.you'), K: () => step(-1, '.ev.you'), o: () => { const d = document.activeElement.closest('.ev'); const f = d && $('details', d); if (f) f.open = !f.open }, O: () => { const all = $$('.ev details'), to = !all.every(d => d.open); for (const d of all) d.open = to }, G: () => { scrollTo(0, document.body.scrollHeight) }, i: () => focus('#prompt'), c: () => link('continue'), f: () => { const at = document.activeElement.closest('.ev'); const el = $('[data-go=fork]'); if (el) go(el.href + (at ? '?at=' + at.id.slice(1) : '')) }, x: () => focus('[data-go=interrupt]'), p: () => link('parent') },
  continue: { i: () => pick('inherit'), o: () => pick('set'), x: () => pick('clear'), p: () => focus('#prompt') },
  backlog: { i: () => link('issue'), n: () => focus('#title') },
};
const any = {
  '/': () => focus('#q'), a: () => go('/approvals/next'), n: () => go('/launch'), '.': take, r: () => wake && wake(),
  y: () => navigator.clipboard && navigator.clipboard.writeText(location.href).then(() => say('link copied')),
  '?': () => $('#keys').showModal(), j: () => step(1, rowLink), k: () => step(-1, rowLink), ArrowDown: null, ArrowUp: null,
  c: () => link('continue'), x: () => link('interrupt'), '[': () => link('before'), ']': () => link('after'),
};
const places = { h: '/', s: '/sessions', r: '/recall', b: '/issues' };
let g = 0;
addEventListener('keydown', e => {
  const at = document.activeElement, typing = at && (/^(TEXTAREA|SELECT)$/.test(at.tagName) || at.tagName === 'INPUT' && !/^(radio|checkbox|button)$/.test(at.type));
  if (e.key === 'Enter' && (e.metaKey || e.ctrlKey)) { const f = at.closest('form') || $('form[data-send]'); if (f) { e.preventDefault(); f.requestSubmit() } return }
  if (e.key === 'Escape') { if (typing) at.blur(); else if (!$('dialog[open]')) { const up = $('[data-go=up]'); if (up) go(up.href) } return }
  if (typing || e.metaKey || e.ctrlKey || e.altKey || e.repeat || $('dialog[open]') || keep.get('keys') === 'off') return;
  if (g && Date.now() - g < 1500 && places[e.key]) { g = 0; go(places[e.key]); return }
  if (e.key === 'g') { g = Date.now(); return }
  if (e.key >= '1' && e.key <= '5' && page.page === 'session') { focus('#part' + e.key); return }
  const mine = own[page.page] || {}, act = mine[e.key] || (page.page === 'approval' ? mine[e.key.toLowerCase()] : null) || any[e.key];
  if (act) { e.preventDefault(); act() }
});
const filter = $('#keys input');
if (filter) filter.oninput = () => { for (const r of $$('#keys tr')) r.hidden = !r.textContent.toLowerCase().includes(filter.value.toLowerCase()) };
tick();
