(** KJ-Thm30: what the order of the scores loses of the discounted gain, for lists of any length, and the best constant. *)

From Simopt Require Import Spaces.
From Coq Require Import Permutation.
Open Scope R_scope.

(** * Definitions *)

(** Discounts 1 / log 2, 1 / log 3, ..., and the discounted gain of documents that are listed from the first place on. *)
Definition discount (t : nat) : R := 1 / ln (1 + INR t).
Definition discounts (m : nat) : list R := map discount (seq 1 m).
Definition dot (u v : list R) : R := sum (map (fun a => fst a * snd a) (combine u v)).
Definition gain (g : list R) : R := dot (discounts (length g)) g.

Fixpoint descending (l : list R) : Prop := match l with [] => True | a :: m => (forall b, In b m -> b <= a) /\ descending m end.
Definition apart (u v : list R) : R := sqrt (sum (map (fun a => (fst a - snd a) ^ 2) (combine u v))).

(** g are the gains of the documents in the order of their scores, best the same from the largest on: relevances are gains over the gain of
    the best order, the regret is what the order of the scores loses of it. *)
Definition best_order (g best : list R) : Prop := Permutation g best /\ descending best.
Definition relevances (g best : list R) : list R := map (fun x => x / gain best) g.
Definition regret (g best : list R) : R := 1 - gain g / gain best.
Definition constant (m : nat) : R := apart (discounts m) (rev (discounts m)).

(** * Lemmas *)

Lemma dot_cons a u b v : dot (a :: u) (b :: v) = a * b + dot u v. Proof. reflexivity. Qed.

Lemma dot_app u u' v v' : length u = length v -> dot (u ++ u') (v ++ v') = dot u v + dot u' v'.
Proof.
  revert v. induction u as [|a u IH]; intros [|b v] L; try easy; [unfold dot; simpl; ring|]. cbn [app]. rewrite !dot_cons, IH by now injection L. ring.
Qed.

Lemma dot_symmetric u v : dot u v = dot v u.
Proof.
  revert v. induction u as [|a u IH]; intros [|b v]; try reflexivity. rewrite !dot_cons, IH. ring.
Qed.

Lemma dot_rev u v : length u = length v -> dot (rev u) (rev v) = dot u v.
Proof.
  revert v. induction u as [|a u IH]; intros [|b v] L; try easy. injection L as L. cbn [rev].
  rewrite dot_app, dot_cons, IH, dot_cons by (now rewrite ?rev_length). unfold dot at 2. simpl. ring.
Qed.

Lemma dot_opposite u v : dot u (map Ropp v) = - dot u v.
Proof.
  revert v. induction u as [|a u IH]; intros [|b v]; try (unfold dot; simpl; ring). cbn [map]. rewrite !dot_cons, IH. ring.
Qed.

(** Two orders of the same numbers: with what is sorted the sorted order has the largest product. *)
Lemma exchange d a b e s0 l : length (e :: a ++ d :: b) = length (s0 :: l) -> (forall s, In s l -> s <= s0) -> e <= d ->
  dot (e :: a ++ d :: b) (s0 :: l) <= dot (d :: a ++ e :: b) (s0 :: l).
Proof.
  cbn [length]. rewrite app_length. cbn [length]. intros L H D. injection L as L.
  assert (S : exists l1 s l2, l = l1 ++ s :: l2 /\ length l1 = length a).
  { exists (firstn (length a) l), (nth (length a) l 0), (skipn (S (length a)) l). split; [|apply firstn_length_le; lia].
    rewrite <- (firstn_skipn (length a) l) at 1. f_equal. clear -L. revert l L. induction a as [|x a IH]; intros [|y l] L; cbn in *; try lia; [easy|].
    apply IH. lia. }
  destruct S as [l1 [s [l2 [-> A]]]]. rewrite !dot_cons, !dot_app, !dot_cons by easy.
  assert (s <= s0) by (apply H, in_or_app; right; now left). assert (0 <= (d - e) * (s0 - s)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma rearranged d : forall e s, Permutation e d -> length d = length s -> descending d -> descending s -> dot e s <= dot d s.
Proof.
  induction d as [|a d IH]; intros e s P L D S; [apply Permutation_sym, Permutation_nil in P; subst e; apply Rle_refl|].
  destruct s as [|s0 s]; [easy|]. destruct D as [D D'], S as [S S']. injection L as L.
  destruct e as [|e0 e]; [now apply Permutation_nil in P|].
  assert (I : In a (e0 :: e)) by (apply (Permutation_in _ (Permutation_sym P)); now left).
  destruct (Req_EM_T e0 a) as [->|N].
  - apply Permutation_cons_inv in P. rewrite !dot_cons. apply Rplus_le_compat_l. now apply IH.
  - destruct I as [I|I]; [easy|]. apply in_split in I. destruct I as [u [v ->]].
    assert (P' : Permutation (u ++ e0 :: v) d).
    { apply (Permutation_cons_inv (a := a)). apply Permutation_trans with (2 := P).
      apply Permutation_trans with (a :: e0 :: u ++ v); [apply perm_skip, Permutation_sym, Permutation_middle|].
      apply Permutation_trans with (1 := perm_swap _ _ _). apply perm_skip, Permutation_middle. }
    apply Rle_trans with (dot (a :: u ++ e0 :: v) (s0 :: s)).
    + apply exchange; [|easy|].
      * apply Permutation_length in P. cbn [length] in *. lia.
      * destruct (Permutation_in e0 P (or_introl eq_refl)) as [E|E]; [lra | now apply D].
    + rewrite !dot_cons. apply Rplus_le_compat_l. now apply IH.
Qed.

Lemma descending_end l c : descending l -> (forall x, In x l -> c <= x) -> descending (l ++ [c]).
Proof.
  induction l as [|a l IH]; intros D H; [easy|]. destruct D as [D D']. cbn [app descending]. split.
  - intros b B. apply in_app_or in B. destruct B as [B|[<-|[]]]; [now apply D | apply H; now left].
  - apply IH; [easy|]. intros x X. apply H. now right.
Qed.

Lemma descending_turned l : descending l -> descending (map Ropp (rev l)).
Proof.
  induction l as [|a l IH]; intros D; [easy|]. destruct D as [D D']. cbn [rev]. rewrite map_app. apply descending_end; [now apply IH|].
  intros x X. apply in_map_iff in X. destruct X as [y [<- Y]]. apply in_rev, D in Y. lra.
Qed.

Lemma reversed d e : Permutation e d -> descending d -> dot d (rev d) <= dot e d.
Proof.
  intros P D. generalize (Permutation_length P). intros L.
  assert (H : dot (rev e) (map Ropp (rev d)) <= dot d (map Ropp (rev d))).
  { apply rearranged; [|now rewrite map_length, rev_length | easy | now apply descending_turned].
    apply Permutation_trans with (2 := P), Permutation_sym, Permutation_rev. }
  rewrite !dot_opposite, dot_rev in H by easy. lra.
Qed.

(** Gains in another order are discounts in another order. *)
Lemma discounts_move g h : Permutation g h -> forall d, length d = length g -> exists e, Permutation e d /\ dot e g = dot d h.
Proof.
  intros P. induction P as [|x g h P IH|x y g|g h k P IH Q IH']; intros d L.
  - now exists d.
  - destruct d as [|a d]; [easy|]. injection L as L. destruct (IH d L) as [e [E F]]. exists (a :: e). split; [now apply perm_skip|]. now rewrite !dot_cons, F.
  - destruct d as [|a [|b d]]; try easy. exists (b :: a :: d). split; [apply perm_swap|]. rewrite !dot_cons. ring.
  - destruct (IH' d) as [f [F G]]; [now rewrite L; apply Permutation_length|]. destruct (IH f) as [e [E K]].
    + rewrite (Permutation_length F). exact L.
    + exists e. split; [now apply Permutation_trans with f | now rewrite K].
Qed.

Lemma apart_squared u v : length u = length v -> sum (map (fun a => (fst a - snd a) ^ 2) (combine u v)) = dot u u + dot v v - 2 * dot u v.
Proof.
  revert v. induction u as [|a u IH]; intros [|b v] L; try easy; [unfold dot; simpl; ring|]. cbn [combine map].
    rewrite sum_cons, !dot_cons, IH by now injection L.
  cbn [fst snd]. ring.
Qed.

Lemma squares_positive u v : 0 <= sum (map (fun a => (fst a - snd a) ^ 2) (combine u v)).
Proof. apply sum_nonnegative. intros a _. apply pow2_ge_0. Qed.

(** Cauchy and Schwarz, for (e - d) (r - s). *)
Lemma product_at_most e d r s : length e = length d -> length d = length r -> length r = length s ->
  dot e r - dot d r - (dot e s - dot d s) <= apart e d * apart r s.
Proof.
  intros L1 L2 L3. set (x := dot e r - dot d r - (dot e s - dot d s)). unfold apart.
  set (A := sum (map _ (combine e d))). set (B := sum (map _ (combine r s))).
  assert (P : 0 <= A) by apply squares_positive. assert (Q : 0 <= B) by apply squares_positive.
  assert (H : forall t, 0 <= t * t * A - 2 * t * x + B).
  { intros t. unfold A, B, x. clear -L1 L2 L3. revert d r s L1 L2 L3. induction e as [|e0 e IH]; intros [|d0 d] [|r0 r] [|s0 s] L1 L2 L3; try easy.
    - unfold dot. simpl. lra.
    - cbn [combine map]. rewrite !sum_cons, !dot_cons. cbn [fst snd].
      specialize (IH d r s ltac:(now injection L1) ltac:(now injection L2) ltac:(now injection L3)).
      generalize (pow2_ge_0 (t * (e0 - d0) - (r0 - s0))). lra. }
  rewrite <- sqrt_mult by easy. destruct (Rle_lt_dec x 0) as [X|X]; [apply Rle_trans with (1 := X), sqrt_pos|].
  rewrite <- (sqrt_square x) by lra. apply sqrt_le_1_alt. destruct (Req_EM_T A 0) as [Z|Z].
  - exfalso. specialize (H ((B + 1) / (2 * x))). rewrite Z in H. replace (2 * ((B + 1) / (2 * x)) * x) with (B + 1) in H by (field; lra). lra.
  - specialize (H (x / A)). replace (x / A * (x / A) * A - 2 * (x / A) * x + B) with (B - x * x / A) in H by (field; lra).
    apply (Rmult_le_reg_r (/ A)); [apply Rinv_0_lt_compat; lra|]. replace (A * B * / A) with B by (field; lra). unfold Rdiv in H. lra.
Qed.

Lemma discount_positive t : (1 <= t)%nat -> 0 < discount t.
Proof.
  intros T. apply le_INR in T. cbn [INR] in T. apply Rdiv_lt_0_compat; [lra|]. rewrite <- ln_1. apply ln_increasing; lra.
Qed.

Lemma discount_falls t u : (1 <= t)%nat -> (t <= u)%nat -> discount u <= discount t.
Proof.
  intros T U. apply le_INR in T. apply le_INR in U. cbn [INR] in T. unfold discount, Rdiv. rewrite !Rmult_1_l. apply Rinv_le_contravar.
  - rewrite <- ln_1. apply ln_increasing; lra.
  - destruct U as [U|U]; [left; apply ln_increasing; lra | rewrite U; apply Rle_refl].
Qed.

Lemma discounts_descend m : descending (discounts m).
Proof.
  unfold discounts. assert (H : forall a, (1 <= a)%nat -> descending (map discount (seq a m))); [|now apply H].
  induction m as [|m IH]; intros a A; [easy|]. cbn [seq map descending]. split; [|apply IH; lia].
  intros b B. apply in_map_iff in B. destruct B as [t [<- T]]. apply in_seq in T. apply discount_falls; lia.
Qed.

Lemma discounts_length m : length (discounts m) = m.
Proof. unfold discounts. now rewrite map_length, seq_length. Qed.

Lemma gain_positive g : (forall x, In x g -> 0 <= x) -> (exists x, In x g /\ 0 < x) -> 0 < gain g.
Proof.
  unfold gain, discounts. intros H [x [I X]]. revert H I. assert (G : forall a, (1 <= a)%nat -> (forall x, In x g -> 0 <= x) -> In x g ->
    0 < dot (map discount (seq a (length g))) g).
  { induction g as [|y g IH]; intros a A H I; [easy|]. cbn [length seq map]. rewrite dot_cons.
    assert (Y : 0 <= discount a * y) by (apply Rmult_le_pos; [left; now apply discount_positive | apply H; now left]).
    assert (Z : 0 <= dot (map discount (seq (S a) (length g))) g).
    { clear -H. generalize (S a). assert (H' : forall x, In x g -> 0 <= x) by (intros z Z; apply H; now right). clear H. intros b. unfold dot.
      apply sum_nonnegative. intros [c z] C. cbn [fst snd]. apply Rmult_le_pos; [|apply H', (in_combine_r _ _ _ _ C)].
      apply in_combine_l, in_map_iff in C. destruct C as [t [<- T]]. unfold discount, Rdiv. apply Rmult_le_pos; [lra|]. generalize (pos_INR t). intros [Q|Q].
      - left. apply Rinv_0_lt_compat. rewrite <- ln_1. apply ln_increasing; lra.
      - rewrite <- Q, Rplus_0_r, ln_1, Rinv_0. apply Rle_refl. }
    destruct I as [->|I]; [assert (0 < discount a * x) by (apply Rmult_lt_0_compat; [now apply discount_positive | easy]); lra|].
    assert (0 < dot (map discount (seq (S a) (length g))) g); [|lra]. apply IH; [lia | intros z Z'; apply H; now right | easy]. }
  now apply G.
Qed.

Lemma dot_over d g c : dot d (map (fun x => x / c) g) = dot d g / c.
Proof.
  revert g. induction d as [|a d IH]; intros [|b g]; try (unfold dot, Rdiv; simpl; ring). cbn [map]. rewrite !dot_cons, IH. unfold Rdiv. ring.
Qed.

(** * KJ-Thm30 *)

(** Scores in descending order, ties broken at will. *)
Theorem KJ_Thm30_any s g best : length s = length g -> descending s -> (forall x, In x g -> 0 <= x) -> (exists x, In x g /\ 0 < x) ->
  best_order g best -> regret g best <= constant (length g) * apart s (relevances g best).
Proof.
  intros L S N X [P B]. set (m := length g). assert (L' : length best = m) by (symmetry; now apply Permutation_length).
  assert (G : 0 < gain best).
  { apply gain_positive.
    - intros x I. apply N, (Permutation_in _ (Permutation_sym P) I).
    - destruct X as [x [I X]]. exists x. split; [now apply (Permutation_in _ P) | easy]. }
  destruct (discounts_move g best P (discounts m) (discounts_length m)) as [e [E F]].
  assert (LE : length e = m) by (rewrite (Permutation_length E); apply discounts_length).
  set (r := relevances g best). assert (LR : length r = m) by (unfold r, relevances; now rewrite map_length).
  assert (R0 : regret g best = dot e r - dot (discounts m) r).
  { unfold r, relevances, regret. rewrite !dot_over, F. unfold gain at 1. fold m. unfold gain. rewrite L'. fold m. field.
    unfold gain in G. rewrite L' in G. lra. }
  generalize (rearranged (discounts m) e s E ltac:(rewrite discounts_length; lia) (discounts_descend m) S). intros O.
  generalize (product_at_most e (discounts m) r s ltac:(now rewrite discounts_length) ltac:(now rewrite discounts_length) ltac:(lia)). intros C.
  assert (K : apart e (discounts m) <= constant m).
  { unfold constant, apart. apply sqrt_le_1_alt. rewrite !apart_squared by (rewrite ?rev_length, ?discounts_length; easy).
    generalize (reversed (discounts m) e E (discounts_descend m)). intros V.
    assert (dot e e = dot (discounts m) (discounts m)).
    { unfold dot. clear -E. induction E as [|x u v P IH|x y u|u v w P IH Q IH']; cbn [combine map]; rewrite ?sum_cons; cbn [fst snd] in *; lra. }
    rewrite dot_rev by easy. lra. }
  assert (T : apart r s = apart s r).
  { unfold apart. f_equal. clear. revert s. induction r as [|a r IH]; intros [|b s]; try easy. cbn [combine map]. rewrite !sum_cons, IH. cbn [fst snd].
    ring. }
  rewrite R0. apply Rle_trans with (apart e (discounts m) * apart r s); [lra|]. rewrite T. apply Rmult_le_compat_r; [apply sqrt_pos | exact K].
Qed.

(** In the mean over finitely many lists of m documents with masses (Jensen). *)
Record ranked := Ranked { mass : R; scores : list R; gains : list R; best_gains : list R }.
Definition admissible (m : nat) (a : ranked) : Prop :=
  0 <= mass a /\ length (gains a) = m /\ length (scores a) = m /\ descending (scores a) /\
  (forall x, In x (gains a) -> 0 <= x) /\ (exists x, In x (gains a) /\ 0 < x) /\ best_order (gains a) (best_gains a).
Definition mean_of (l : list ranked) (f : ranked -> R) : R := sum (map (fun a => mass a * f a) l).

Lemma jensen l f : (forall a, In a l -> 0 <= mass a) -> mean_of l (fun _ => 1) = 1 -> mean_of l f <= sqrt (mean_of l (fun a => f a ^ 2)).
Proof.
  intros P M. set (x := mean_of l f).
  assert (H : 0 <= mean_of l (fun a => (f a - x) ^ 2)).
  { apply sum_nonnegative. intros a A. apply Rmult_le_pos; [now apply P | apply pow2_ge_0]. }
  assert (E : mean_of l (fun a => (f a - x) ^ 2) = mean_of l (fun a => f a ^ 2) - 2 * x * mean_of l f + x * x * mean_of l (fun _ => 1)).
  { unfold mean_of. rewrite <- !sum_scale. rewrite (sum_ext _ (fun a => mass a * f a ^ 2 + (-1 * (2 * x * (mass a * f a)) + x * x * (mass a * 1)))).
    - rewrite !sum_add, sum_scale. ring.
    - intros a _. ring. }
  rewrite E, M in H. fold x in H. destruct (Rle_lt_dec x 0) as [X|X]; [apply Rle_trans with (1 := X), sqrt_pos|].
  rewrite <- (sqrt_square x) by lra. apply sqrt_le_1_alt. lra.
Qed.

Theorem KJ_Thm30_mean m l : (forall a, In a l -> admissible m a) -> mean_of l (fun _ => 1) = 1 ->
  mean_of l (fun a => regret (gains a) (best_gains a)) <=
  constant m * sqrt (mean_of l (fun a => apart (scores a) (relevances (gains a) (best_gains a)) ^ 2)).
Proof.
  intros A M. apply Rle_trans with (constant m * mean_of l (fun a => apart (scores a) (relevances (gains a) (best_gains a)))).
  - unfold mean_of. rewrite <- sum_scale. apply sum_le. intros a I. destruct (A a I) as [P [L [S [D [N [X B]]]]]].
    replace (constant m * (mass a * apart (scores a) (relevances (gains a) (best_gains a))))
      with (mass a * (constant m * apart (scores a) (relevances (gains a) (best_gains a)))) by ring.
    apply Rmult_le_compat_l; [easy|]. rewrite <- L. apply KJ_Thm30_any; auto. now rewrite S.
  - apply Rmult_le_compat_l; [apply sqrt_pos|]. apply jensen; [|easy]. intros a I. now apply A.
Qed.

(** The constant is attained for every m: scores that tie, and the documents in the order from the least relevant to the most. *)
Fixpoint added (c : R) (u v : list R) : list R := match u, v with a :: u, b :: v => (c + (a - b)) :: added c u v | _, _ => [] end.

Lemma added_length c u v : length u = length v -> length (added c u v) = length u.
Proof. revert v. induction u as [|a u IH]; intros [|b v] L; try easy. cbn [added length]. f_equal. apply IH. now injection L. Qed.

Lemma added_app c u u' v v' : length u = length v -> added c (u ++ u') (v ++ v') = added c u v ++ added c u' v'.
Proof. revert v. induction u as [|a u IH]; intros [|b v] L; try easy. cbn [app added]. f_equal. apply IH. now injection L. Qed.

Lemma added_rev c u v : length u = length v -> added c (rev u) (rev v) = rev (added c u v).
Proof.
  revert v. induction u as [|a u IH]; intros [|b v] L; try easy. injection L as L. cbn [rev added]. rewrite added_app, IH by (now rewrite ?rev_length).
    reflexivity.
Qed.

Lemma dot_added d c u v : length d = length u -> length u = length v -> dot d (added c u v) = c * sum d + dot d u - dot d v.
Proof.
  revert u v. induction d as [|e d IH]; intros [|a u] [|b v] L L'; try easy; [unfold dot; simpl; ring|].
  cbn [added]. rewrite !dot_cons, sum_cons, IH by (first [now injection L | now injection L']). ring.
Qed.

Lemma descending_added c u v : length u = length v -> descending u -> descending (map Ropp v) -> descending (added c u v).
Proof.
  revert v. induction u as [|a u IH]; intros [|b v] L U V; try easy. destruct U as [U U'], V as [V V']. injection L as L. cbn [added descending].
    split; [|now apply IH].
  clear IH U' V'. intros x X. revert v L V X. induction u as [|a' u IH]; intros [|b' v] L V X; try easy. injection L as L. destruct X as [<-|X].
  - generalize (U a' (or_introl eq_refl)) (V (- b') (or_introl eq_refl)). lra.
  - apply (IH (fun y Y => U y (or_intror Y)) v L); [intros y Y; apply V; now right | easy].
Qed.

Lemma no_distance u v : length u = length v -> sum (map (fun a => (fst a - snd a) ^ 2) (combine u v)) = 0 -> u = v.
Proof.
  revert v. induction u as [|a u IH]; intros [|b v] L; try easy. injection L as L. cbn [combine map]. rewrite sum_cons. cbn [fst snd]. intros H.
  generalize (pow2_ge_0 (a - b)) (squares_positive u v). intros P Q. assert (Z : Rsqr (a - b) = 0) by (unfold Rsqr; lra). apply Rsqr_0_uniq in Z.
  f_equal; [lra | apply IH; [easy | lra]].
Qed.

Lemma distance_added c N (d u v : list R) : length d = length u -> length u = length v ->
  sum (map (fun a => (fst a - snd a) ^ 2) (combine (map (fun _ => c / N) d) (map (fun x => x / N) (added c u v)))) =
  / N * / N * sum (map (fun a => (fst a - snd a) ^ 2) (combine u v)).
Proof.
  revert u v. induction d as [|e d IH]; intros [|a u] [|b v] L L'; try easy; [unfold sum; simpl; ring|].
  cbn [added map combine]. rewrite !sum_cons, IH by (first [now injection L | now injection L']). cbn [fst snd]. unfold Rdiv. ring.
Qed.

Lemma constant_positive m : (2 <= m)%nat -> 0 < constant m.
Proof.
  intros M. unfold constant, apart. apply sqrt_lt_R0. generalize (squares_positive (discounts m) (rev (discounts m))). intros [P|P]; [easy|]. exfalso.
  apply eq_sym, no_distance in P; [|now rewrite rev_length]. assert (E : nth 0 (discounts m) 0 = nth 0 (rev (discounts m)) 0) by now rewrite <- P.
  rewrite rev_nth, discounts_length in E by (rewrite discounts_length; lia). unfold discounts in E.
  rewrite !nth_indep with (d := 0) (d' := discount 0) in E by (rewrite map_length, seq_length; lia). rewrite !map_nth, !seq_nth in E by lia.
  assert (T : INR 2 <= INR m) by now apply le_INR. cbn [INR] in T. replace (1 + (m - 1))%nat with m in E by lia. cbn [Nat.add] in E.
  assert (discount m < discount 1); [|lra]. unfold discount, Rdiv. rewrite !Rmult_1_l. cbn [INR].
  assert (0 < ln (1 + 1)) by (rewrite <- ln_1; apply ln_increasing; lra). assert (ln (1 + 1) < ln (1 + INR m)) by (apply ln_increasing; lra).
  apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; lra | easy].
Qed.

Theorem KJ_Thm30_attained m : (1 <= m)%nat -> exists s g best, length s = m /\ length g = m /\ descending s /\ (forall x, In x g -> 0 < x) /\
  best_order g best /\ regret g best = constant m * apart s (relevances g best) /\ ((2 <= m)%nat -> 0 < regret g best).
Proof.
  intros M. set (D := discounts m). assert (L : length D = m) by apply discounts_length. assert (L' : length (rev D) = m) by (now rewrite rev_length).
  set (c := discount 1). set (g := added c (rev D) D). set (best := added c D (rev D)).
  assert (G : g = rev best) by (unfold g, best; rewrite <- added_rev, rev_involutive by (now rewrite L'); reflexivity).
  assert (LB : length best = m) by (unfold best; rewrite added_length; lia). assert (LG : length g = m) by (now rewrite G, rev_length).
  assert (U : forall x, In x D -> 0 < x <= c).
  { intros x X. unfold D, discounts in X. apply in_map_iff in X. destruct X as [t [<- T]]. apply in_seq in T.
    split; [apply discount_positive; lia | apply discount_falls; lia]. }
  assert (P : forall x, In x g -> 0 < x).
  { assert (V : forall x, In x (rev D) -> 0 < x) by (intros x X; apply in_rev, U in X; lra). unfold g.
    assert (H : forall u v, (forall x, In x u -> 0 < x) -> (forall x, In x v -> x <= c) -> forall x, In x (added c u v) -> 0 < x).
    { induction u as [|a u IH]; intros [|b v] A B x X; try easy. destruct X as [<-|X].
      - generalize (A a (or_introl eq_refl)) (B b (or_introl eq_refl)). lra.
      - apply (IH v); auto; intros y Y; [apply A | apply B]; now right. }
    apply H; [exact V | intros x X; now apply U]. }
  assert (B : best_order g best).
  { split; [rewrite G; apply Permutation_sym, Permutation_rev|].
    apply descending_added; [lia | apply discounts_descend | apply descending_turned, discounts_descend]. }
  set (N := gain best). assert (NP : 0 < N).
  { apply gain_positive; [intros x X; left; apply P; rewrite G; now apply in_rev in X|]. destruct best as [|b l] eqn:Q; [cbn in LB; lia|].
    exists b. split; [now left|]. apply P. rewrite G. apply in_rev. rewrite rev_involutive. now left. }
  set (K := sum (map (fun a => (fst a - snd a) ^ 2) (combine D (rev D)))). assert (K0 : 0 <= K) by apply squares_positive.
  assert (K2 : K = 2 * (dot D D - dot D (rev D))) by (unfold K; rewrite apart_squared, dot_rev by lia; ring).
  assert (R1 : regret g best = K / N).
  { unfold regret. fold N. rewrite K2. apply (Rmult_eq_reg_r N); [|lra]. replace ((1 - gain g / N) * N) with (N - gain g) by (field; lra).
    replace (2 * (dot D D - dot D (rev D)) / N * N) with (2 * (dot D D - dot D (rev D))) by (field; lra).
    unfold N, gain. rewrite LB, LG. fold D. unfold best, g. rewrite !dot_added by lia. ring. }
  exists (map (fun _ => c / N) D), g, best. rewrite map_length. split; [exact L|]. split; [exact LG|]. split; [|split; [exact P|split; [exact B|split]]].
  - clear. generalize (c / N). intros x. induction D as [|d D IH]; [easy|]. cbn [map descending]. split; [|easy].
    intros b B. apply in_map_iff in B. destruct B as [y [<- _]]. apply Rle_refl.
  - rewrite R1. unfold constant, apart, relevances. fold D N. unfold g. rewrite distance_added by lia.
    replace (sum (map (fun a => (fst a - snd a) ^ 2) (combine (rev D) D))) with K by (unfold K;
      rewrite !apart_squared, (dot_symmetric (rev D) D) by lia; ring).
    fold K. rewrite sqrt_mult, sqrt_square by (first [easy | left; now apply Rinv_0_lt_compat | apply Rmult_le_pos; left; now apply Rinv_0_lt_compat]).
    transitivity (sqrt K * sqrt K * / N); [rewrite sqrt_sqrt by easy; reflexivity | ring].
  - intros M2. generalize (constant_positive m M2). unfold constant, apart. fold D K. intros S. rewrite R1.
    apply Rdiv_lt_0_compat; [|easy]. destruct K0 as [K0|K0]; [easy|]. rewrite <- K0, sqrt_0 in S. lra.
Qed.

(** For two documents it is sqrt 2 (1 / log 2 - 1 / log 3), and attained by every list: by scores that tie at the mean of the relevances. *)
Theorem KJ_Thm30_constant_two : constant 2 = sqrt 2 * (discount 1 - discount 2).
Proof.
  unfold constant, apart, discounts, sum. cbn [seq map rev app combine fold_right fst snd].
  assert (H : 0 <= discount 1 - discount 2) by (generalize (discount_falls 1 2 ltac:(lia) ltac:(lia)); lra).
  transitivity (sqrt (2 * ((discount 1 - discount 2) * (discount 1 - discount 2)))); [f_equal; ring|].
  rewrite sqrt_mult, sqrt_square by first [lra | easy | apply Rle_0_sqr]. reflexivity.
Qed.

Theorem KJ_Thm30_two_attained g1 g2 : 0 <= g1 <= g2 -> 0 < g2 ->
  let s := (g1 + g2) / 2 / gain [g2; g1] in
  regret [g1; g2] [g2; g1] = constant 2 * apart [s; s] (relevances [g1; g2] [g2; g1]).
Proof.
  intros A B s. assert (N : 0 < gain [g2; g1]).
  { apply gain_positive; [intros x [<-|[<-|[]]]; lra | exists g2; split; [now left | easy]]. }
  rewrite KJ_Thm30_constant_two. unfold s, regret, apart, relevances, sum. set (n := gain [g2; g1]) in *. cbn [map combine fold_right fst snd].
  assert (H : 0 <= (g2 - g1) / n) by (apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat]).
  replace (((g1 + g2) / 2 / n - g1 / n) ^ 2 + (((g1 + g2) / 2 / n - g2 / n) ^ 2 + 0)) with (((g2 - g1) / n) * ((g2 - g1) / n) / 2) by (field; lra).
  rewrite (Rmult_comm (sqrt 2)), Rmult_assoc, <- sqrt_mult by nra.
  replace (2 * ((g2 - g1) / n * ((g2 - g1) / n) / 2)) with ((g2 - g1) / n * ((g2 - g1) / n)) by (field; lra). rewrite sqrt_square by easy.
  apply (Rmult_eq_reg_r n); [|lra]. replace ((discount 1 - discount 2) * ((g2 - g1) / n) * n) with ((discount 1 - discount 2) * (g2 - g1)) by (field; lra).
  replace ((1 - gain [g1; g2] / n) * n) with (n - gain [g1; g2]) by (field; lra). unfold n, gain, dot, discounts, sum.
  cbn [length seq map combine fold_right fst snd]. ring.
Qed.
